package site_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// callers is how many agents call at once.
const callers = 100

// parallel calls fn n times at once, and counts the answers by status.
func parallel(n int, fn func(n int) got) map[int]int {
	var mu sync.Mutex
	var all sync.WaitGroup
	begin, counts := make(chan struct{}), map[int]int{}
	for i := range n {
		all.Go(func() {
			<-begin
			g := fn(i)
			mu.Lock()
			defer mu.Unlock()
			counts[g.status]++
		})
	}
	close(begin)
	all.Wait()
	return counts
}

// TestLastCounts: 100 parallel calls with 5 left are 5 runs, also over a restart.
func TestLastCounts(t *testing.T) {
	t.Parallel()
	e := start(t, func(_ *site.Config, o *site.Options) { o.Limits.Calls = callers })
	token := e.token(site.Grant{PerDay: 5})
	counts := parallel(callers, func(int) got { return e.call(token, "add_card", card) })
	if counts[200] != 5 || counts[429] != callers-5 || e.ran.Load() != 5 {
		t.Errorf("answers %v, %d runs", counts, e.ran.Load())
	}
	after := startOn(t, e.store)
	if got := after.call(token, "add_card", card); got.status != 429 {
		t.Errorf("after a restart: %d %s", got.status, got.body)
	}
}

// together is a rail that lets calls pass only when all of them have been checked, so that
// they take their counts at the same time.
type together struct {
	all     sync.WaitGroup
	checked atomic.Int64
	next    atomic.Int64
}

func (r *together) Challenge(context.Context, site.Offer) (site.Challenge, error) {
	return site.Challenge{}, nil
}

func (r *together) Verify(context.Context, site.Offer, string, time.Time) (site.Payment, error) {
	r.all.Done()
	r.checked.Add(1)
	r.all.Wait()
	return site.Payment{Key: fmt.Sprint(r.next.Add(1)), Scheme: "test"}, nil
}

func (r *together) Settle(context.Context, site.Payment) (site.Settlement, error) {
	return site.Settlement{}, nil
}

// TestLastCountsTogether: calls that have all passed the check of the count still get only those that are left.
func TestLastCountsTogether(t *testing.T) {
	t.Parallel()
	rail := &together{}
	rail.all.Add(callers)
	e := start(t, func(c *site.Config, o *site.Options) {
		o.Limits.Calls = callers
		c.Actions[1].Pricing = aam.Pricing{Type: "test", Amount: "1", Currency: "EUR"}
		o.Rails = map[string]site.Rail{"test": rail}
	})
	token := e.token(site.Grant{PerDay: 5})
	counts := parallel(callers, func(int) got { return e.call(token, "buy", "{}", "X-Payment", "1") })
	if counts[200] != 5 || counts[429] != callers-5 || e.ran.Load() != 5 {
		t.Errorf("answers %v, %d runs", counts, e.ran.Load())
	}
}

// TestRevokeBeforeTake: a call that was checked, and whose token is revoked before its
// count is taken, does not run.
func TestRevokeBeforeTake(t *testing.T) {
	t.Parallel()
	rail := &together{}
	rail.all.Add(2)
	e := start(t, func(c *site.Config, o *site.Options) {
		c.Actions[1].Pricing = aam.Pricing{Type: "test", Amount: "1", Currency: "EUR"}
		o.Rails = map[string]site.Rail{"test": rail}
	})
	token := e.token(site.Grant{PerDay: 5})
	ended := make(chan got)
	go func() { ended <- e.call(token, "buy", "{}", "X-Payment", "1") }()
	for rail.checked.Load() == 0 { // it waits for another call
		runtime.Gosched()
	}
	if err := e.site.Revoke(e.site.Tokens()[0].ID); err != nil {
		t.Fatal(err)
	}
	rail.all.Done()
	if got := <-ended; got.status != 401 || e.ran.Load() != 0 {
		t.Errorf("%d %s, %d runs", got.status, got.body, e.ran.Load())
	}
}

// alone is a store that notices two commits at the same time: the later one could be on
// disk first, and the earlier one would bring an older count back.
type alone struct {
	site.Store
	busy, twice atomic.Bool
}

func (a *alone) Commit(ctx context.Context, changes ...site.Change) error {
	if a.busy.Swap(true) {
		a.twice.Store(true)
	}
	defer a.busy.Store(false)
	for range 1000 {
		runtime.Gosched()
	}
	return a.Store.Commit(ctx, changes...)
}

// TestCommitsInOrder: the store gets one commit at a time, and parallel calls share it.
func TestCommitsInOrder(t *testing.T) {
	t.Parallel()
	store := &alone{Store: site.Memory()}
	e := startOn(t, store, func(_ *site.Config, o *site.Options) { o.Limits.Calls = callers })
	token := e.token(site.Grant{PerDay: 1000})
	if counts := parallel(callers, func(int) got { return e.call(token, "add_card", card) }); counts[200] != callers || store.twice.Load() {
		t.Errorf("answers %v, two commits at once: %v", counts, store.twice.Load())
	}
	if n := startOn(t, store).site.Tokens()[0].UsedToday; n != callers {
		t.Errorf("%d calls were counted on disk", n)
	}
}

// TestOnePaymentOnce: one payment, sent 100 times at once by agents of different tokens, is
// one run; also after a restart, and also as its twin with a high s.
func TestOnePaymentOnce(t *testing.T) {
	t.Parallel()
	e := start(t, func(_ *site.Config, o *site.Options) { o.Limits.Calls = callers })
	tokens := []string{e.token(site.Grant{PerDay: 100}), e.token(site.Grant{PerDay: 100})}
	proof := e.pay()
	counts := parallel(callers, func(n int) got { return e.call(tokens[n%2], "buy", "{}", "X-Payment", proof) })
	if counts[200] != 1 || counts[402] != callers-1 || e.ran.Load() != 1 {
		t.Errorf("answers %v, %d runs", counts, e.ran.Load())
	}
	used := 0
	for _, tok := range e.site.Tokens() {
		used += tok.UsedToday
	}
	if used != 1 {
		t.Errorf("%d calls were counted", used)
	}
	after := startOn(t, e.store)
	if got := after.call(tokens[0], "buy", "{}", "X-Payment", proof); got.status != 402 || !strings.Contains(got.body, x402.InvalidState) {
		t.Errorf("after a restart: %d %s", got.status, got.body)
	}
}

// failing is a store that fails.
type failing struct {
	site.Store
	mu   sync.Mutex
	fail bool
}

func (f *failing) Commit(ctx context.Context, changes ...site.Change) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail {
		return fmt.Errorf("the disk is full")
	}
	return f.Store.Commit(ctx, changes...)
}

// TestNothingRunsUnsaved: an action whose count is not on disk does not run.
func TestNothingRunsUnsaved(t *testing.T) {
	t.Parallel()
	store := &failing{Store: site.Memory()}
	e := startOn(t, store)
	token := e.token(site.Grant{PerDay: 100})
	store.mu.Lock()
	store.fail = true
	store.mu.Unlock()
	if got := e.call(token, "add_card", card); got.status != 503 || e.ran.Load() != 0 {
		t.Errorf("%d %s, %d runs", got.status, got.body, e.ran.Load())
	}
	store.mu.Lock()
	store.fail = false
	store.mu.Unlock()
	if got := e.call(token, "add_card", card); got.status != 200 {
		t.Errorf("later: %d %s", got.status, got.body)
	}
}

// TestRevokeDuringCall: a call that runs ends; the count that it took does not bring the
// token back, also after a restart.
func TestRevokeDuringCall(t *testing.T) {
	t.Parallel()
	e := start(t)
	token := e.token(site.Grant{PerDay: 100})
	running, leave := make(chan struct{}), make(chan struct{})
	e.do = func(context.Context, site.Call) (ahp.Value, error) {
		close(running)
		<-leave
		return ahp.Value("1"), nil
	}
	ended := make(chan got)
	go func() { ended <- e.call(token, "add_card", card) }()
	<-running
	if err := e.site.Revoke(e.site.Tokens()[0].ID); err != nil {
		t.Fatal(err)
	}
	if got := e.call(token, "add_card", card); got.status != 401 {
		t.Errorf("another call: %d", got.status)
	}
	close(leave)
	if got := <-ended; got.status != 200 {
		t.Errorf("the call that ran: %d", got.status)
	}
	if got := startOn(t, e.store).call(token, "add_card", card); got.status != 401 {
		t.Errorf("after a restart: %d", got.status)
	}
}

// TestRevokeAndCallsRace: once a revoke has returned, no call of the token runs, and the
// token does not rise from a count that was written at the same time.
func TestRevokeAndCallsRace(t *testing.T) {
	t.Parallel()
	e := start(t, func(_ *site.Config, o *site.Options) { o.Limits.Calls = callers })
	token := e.token(site.Grant{PerDay: 1000})
	id := e.site.Tokens()[0].ID
	counts := parallel(callers, func(n int) got {
		if n == 20 {
			return got{status: map[bool]int{true: 0, false: 1}[e.site.Revoke(id) == nil]}
		}
		return e.call(token, "add_card", card)
	})
	if counts[0] != 1 || counts[200]+counts[401] != callers-1 {
		t.Errorf("answers %v", counts)
	}
	after := startOn(t, e.store)
	if n := len(after.site.Tokens()); n != 0 {
		t.Errorf("%d tokens after a restart", n)
	}
}

// TestTooManyAtOnce: above the limit, calls are refused and nothing is counted.
func TestTooManyAtOnce(t *testing.T) {
	t.Parallel()
	e := start(t, func(_ *site.Config, o *site.Options) { o.Limits.Calls = 1 })
	token := e.token(site.Grant{PerDay: 100})
	running, leave := make(chan struct{}), make(chan struct{})
	e.do = func(context.Context, site.Call) (ahp.Value, error) {
		close(running)
		<-leave
		return nil, nil
	}
	ended := make(chan got)
	go func() { ended <- e.call(token, "add_card", card) }()
	<-running
	if got := e.call(token, "add_card", card); got.status != 503 || got.header.Get("Retry-After") != "1" {
		t.Errorf("%d %s", got.status, got.body)
	}
	close(leave)
	if got := <-ended; got.status != 200 || got.body == "" || e.site.Tokens()[0].UsedToday != 1 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestPublicLeavesPlaces: calls of a public action, which strangers make, leave a quarter of
// the places to agents that were let in.
func TestPublicLeavesPlaces(t *testing.T) {
	t.Parallel()
	e := start(t, func(_ *site.Config, o *site.Options) { o.Limits.Calls = 4 })
	token := e.token(site.Grant{PerDay: 100})
	var began atomic.Int64
	running, leave := make(chan struct{}, 3), make(chan struct{})
	e.do = func(_ context.Context, c site.Call) (ahp.Value, error) {
		if c.Action.Public && began.Add(1) <= 3 {
			running <- struct{}{}
			<-leave
		}
		return nil, nil
	}
	var strangers sync.WaitGroup
	for range 3 {
		strangers.Go(func() { e.call("", "hours", "{}") })
	}
	for range 3 {
		<-running
	}
	if got := e.call("", "hours", "{}"); got.status != 503 || got.header.Get("Retry-After") != "1" {
		t.Errorf("the fourth stranger: %d %s", got.status, got.body)
	}
	if got := e.call(token, "add_card", card); got.status != 200 {
		t.Errorf("an agent that was let in: %d %s", got.status, got.body)
	}
	close(leave)
	strangers.Wait()
}

// TestProven: a limit of connections learns of valid credentials, and of no others; what it
// refuses does not run.
func TestProven(t *testing.T) {
	t.Parallel()
	var proven atomic.Int64
	var full atomic.Bool
	e := start(t, func(_ *site.Config, o *site.Options) {
		o.Proven = func(*http.Request) bool { proven.Add(1); return !full.Load() }
	})
	token := e.token(site.Grant{PerDay: 100})
	e.call("", "add_card", card)
	e.call("", "hours", "{}")
	e.call("agt_"+strings.Repeat("0", 64), "add_card", card)
	e.call(token, "add_card", card, "X-Agent-Vendor", "other.example")
	if n := proven.Load(); n != 0 {
		t.Errorf("%d requests without a valid credential are proven", n)
	}
	if got := e.call(token, "add_card", card); got.status != 200 || proven.Load() != 1 {
		t.Errorf("%d, proven %d times", got.status, proven.Load())
	}
	full.Store(true)
	ran := e.ran.Load()
	if got := e.call(token, "add_card", card); got.status != 503 || e.ran.Load() != ran {
		t.Errorf("refused: %d, %d runs", got.status, e.ran.Load()-ran)
	}
}

// TestCodes: a code is good once, for ten minutes; a second use revokes the token of the
// first; wrong ones are counted, and a right one does not pass the limit.
func TestCodes(t *testing.T) {
	t.Parallel()
	e := start(t)
	code := e.code(site.Grant{PerDay: 10})
	var mu sync.Mutex
	var tokens []string
	counts := parallel(callers, func(int) got {
		g := e.send("POST", site.PathToken, `{"auth_code":"`+code+`"}`, nil)
		if _, rest, ok := strings.Cut(g.body, `"access_token":"`); ok {
			mu.Lock()
			defer mu.Unlock()
			tokens = append(tokens, rest[:68])
		}
		return g
	})
	if len(tokens) != 1 || counts[200] != 1 || counts[200]+counts[400]+counts[429] != callers {
		t.Fatalf("answers %v", counts)
	}
	if got := e.call(tokens[0], "add_card", card); got.status != 401 {
		t.Errorf("the token of a code that was used twice: %d", got.status)
	}
	e.pass(time.Minute)
	old := e.code(site.Grant{PerDay: 10})
	e.pass(10 * time.Minute)
	if got := e.send("POST", site.PathToken, `{"code":"`+old+`"}`, nil); got.status != 400 {
		t.Errorf("an old code: %d", got.status)
	}
	e.pass(time.Minute)
	right := e.code(site.Grant{PerDay: 10})
	statuses := map[int]int{}
	for n := range 1000 {
		statuses[e.send("POST", site.PathToken, fmt.Sprintf(`{"code":"AAAA-%04d"}`, n), nil).status]++
	}
	if statuses[400] != 60 || statuses[429] != 940 {
		t.Errorf("1,000 tries: %v", statuses)
	}
	if got := e.send("POST", site.PathToken, `{"code":"`+right+`"}`, nil); got.status != 429 {
		t.Errorf("the right code within that minute: %d", got.status)
	}
	e.pass(time.Minute)
	e.exchange(right)
}

// TestRequests: what strangers can file is limited, and requests end.
func TestRequests(t *testing.T) {
	t.Parallel()
	e := start(t, func(c *site.Config, _ *site.Options) { c.Vendors = []string{vendor} })
	file := func() int { return e.request("vendor=" + vendor).status }
	for range 6 {
		if got := file(); got != 200 {
			t.Fatal(got)
		}
	}
	if got := file(); got != 429 {
		t.Errorf("the seventh in a minute: %d", got)
	}
	for range 2 {
		e.pass(time.Minute)
		for range 6 {
			file()
		}
	}
	e.pass(time.Minute)
	file()
	file()
	if got := file(); got != 429 || len(e.site.Pending()) != 20 {
		t.Errorf("the twenty-first: %d, %d wait", got, len(e.site.Pending()))
	}
	id := e.site.Pending()[0].ID
	if err := e.site.Refuse(id); err != nil {
		t.Error(err)
	}
	if _, err := e.site.Approve(id, site.Grant{}); err == nil {
		t.Error("a refused request can be approved")
	}
	e.pass(10 * time.Minute)
	if n := len(e.site.Pending()); n != 0 {
		t.Errorf("%d requests are older than ten minutes", n)
	}
	for name, c := range map[string]struct {
		got    got
		status int
	}{
		"no vendor":      {e.request(""), 400},
		"markup":         {e.request("vendor=%3Cb%3E"), 400},
		"other vendor":   {e.request("vendor=other.example"), 403},
		"unknown action": {e.request("vendor=" + vendor + "&actions=nothing"), 400},
		"no origin":      {e.send("POST", site.PathAuthorize, "vendor="+vendor, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}), 403},
		"other origin":   {e.send("POST", site.PathAuthorize, "vendor="+vendor, map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": "https://evil.example"}), 403},
		"framed":         {e.send("GET", site.PathAuthorize+"?vendor="+vendor, "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}), 403},
	} {
		if c.got.status != c.status || len(e.site.Pending()) != 0 {
			t.Errorf("%s: %d, %d wait", name, c.got.status, len(e.site.Pending()))
		}
	}
	page := e.send("GET", site.PathAuthorize+"?vendor="+vendor, "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
	policy := page.header.Get("Content-Security-Policy")
	if page.status != http.StatusOK || !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "form-action 'self'") {
		t.Errorf("a link from another site: %d %s", page.status, policy)
	}
}
