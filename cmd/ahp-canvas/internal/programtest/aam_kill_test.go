package programtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// aamStore gives a test the site's store of a host that does not run.
type aamStore struct{ *sqlitestore.Store }

func (s aamStore) Commit(ctx context.Context, changes ...site.Change) error {
	all := make([]channels.Change, 0, len(changes))
	for _, c := range changes {
		all = append(all, channels.Change{Key: c.Key, Value: c.Value, Delete: c.Value == nil})
	}
	return s.Store.Commit(ctx, all...)
}

// grant makes a token in the site's store, while the host does not run: what the owner does
// in the canvas is not what these tests are about.
func (h *aamHost) grant(perDay int) (token, id string) {
	t := h.m.t
	t.Helper()
	h.with(func(s *site.Site) {
		form := url.Values{"vendor": {aamVendor}}
		req, err := http.NewRequest(http.MethodPost, h.origin+site.PathAuthorize, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {h.origin}}
		do(t, s, req)
		code, err := s.Approve(s.Pending()[0].ID, site.Grant{PerDay: perDay})
		if err != nil {
			t.Fatal(err)
		}
		if req, err = http.NewRequest(http.MethodPost, h.origin+site.PathToken, strings.NewReader(`{"code":"`+code+`"}`)); err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}}
		var answer struct {
			Token string    `json:"access_token"`
			Rest  ahp.Value `json:",embed"`
		}
		if err := ahp.Unmarshal(do(t, s, req), &answer); err != nil {
			t.Fatal(err)
		}
		token, id = answer.Token, s.Tokens()[len(s.Tokens())-1].ID
	})
	return token, id
}

// with opens the site of a host that does not run.
func (h *aamHost) with(fn func(*site.Site)) {
	t := h.m.t
	t.Helper()
	raw, err := os.ReadFile(h.file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := site.ParseConfig(raw)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlitestore.Open(t.Context(), filepath.Join(h.dir, "aam", "site.db"), sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := site.New(c, site.Func(nil), aamStore{store}, site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fn(s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// do serves a request without a listener.
func do(t *testing.T, s *site.Site, r *http.Request) []byte {
	t.Helper()
	w := &memoryAnswer{header: http.Header{}, status: 200}
	r.Host = r.URL.Host
	s.Handler().ServeHTTP(w, r)
	if w.status != 200 {
		t.Fatalf("%s: %d %s", r.URL, w.status, w.body.String())
	}
	return w.body.Bytes()
}

type memoryAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (m *memoryAnswer) Header() http.Header         { return m.header }
func (m *memoryAnswer) WriteHeader(status int)      { m.status = status }
func (m *memoryAnswer) Write(b []byte) (int, error) { return m.body.Write(b) }

// callCard adds a card by HTTP. A status of 0 means that no answer came.
func (h *aamHost) callCard(client *http.Client, token, action, title, payment string) int {
	body := string(ahp.MustMarshal(map[string]string{"list": "To do", "title": title}))
	req, err := http.NewRequest(http.MethodPost, h.origin+site.PathActions+action, strings.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}, "X-Agent-Vendor": {aamVendor}}
	if payment != "" {
		req.Header.Set("X-Payment", payment)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// TestAAMKill kills the host while agents call. Afterwards no answered token is lost, no
// revoked one is back, no payment is taken twice, and the count is never below the
// number of cards.
func TestAAMKill(t *testing.T) {
	t.Parallel()
	lives := 3
	if os.Getenv("AHP_LONG") != "" {
		lives = 50
	}
	if n, err := strconv.Atoi(os.Getenv("AHP_LIVES")); err == nil {
		lives = n
	}
	h := newAAMHost(t)
	token, id := h.grant(1_000_000)
	revoked, gone := h.grant(1_000_000)
	h.with(func(s *site.Site) {
		if err := s.Revoke(gone); err != nil {
			t.Fatal(err)
		}
	})
	var used []string // payments that were answered with 200
	answered := 0
	for life := range lives {
		s := h.serve()
		for _, p := range used {
			if got := h.callCard(http.DefaultClient, token, "add_urgent_card", "again", p); got != 402 {
				t.Fatalf("life %d: a payment is taken again: %d", life, got)
			}
		}
		if got := h.callCard(http.DefaultClient, revoked, "add_card", "again", ""); got != 401 {
			t.Fatalf("life %d: the revoked token: %d", life, got)
		}
		ok, paid := h.load(t, token, life, func() { s.stop(syscall.SIGKILL) })
		answered += ok + len(paid)
		used = append(used, paid...)
		cards := h.cards(t, life)
		h.with(func(s *site.Site) {
			count := -1
			for _, tok := range s.Tokens() {
				if tok.ID == id {
					count = tok.UsedToday
				}
				if tok.ID == gone {
					t.Fatalf("life %d: the revoked token is back", life)
				}
			}
			if count < answered || count < cards {
				t.Fatalf("life %d: counted %d, answered %d, %d cards", life, count, answered, cards)
			}
		})
	}
	t.Logf("%d kills, %d answered calls, %d of them paid", lives, answered, len(used))
	if answered < lives {
		t.Errorf("only %d calls were answered", answered)
	}
}

// load calls from eight agents, free and paid, and kills the host in the middle.
func (h *aamHost) load(t *testing.T, token string, life int, kill func()) (ok int, paid []string) {
	t.Helper()
	payer := newAAMAgent(t, h.origin)
	var mu sync.Mutex
	var all sync.WaitGroup
	var stopped atomic.Bool
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	for n := range 8 {
		all.Go(func() {
			for i := 0; !stopped.Load(); i++ {
				action, payment := "add_card", ""
				if n%2 == 1 {
					action, payment = "add_urgent_card", payer.sign()
				}
				if h.callCard(client, token, action, fmt.Sprint("card ", life, " ", n, " ", i), payment) != 200 {
					continue
				}
				mu.Lock()
				if payment != "" {
					paid = append(paid, payment)
				} else {
					ok++
				}
				mu.Unlock()
			}
		})
	}
	untilTrue(t, "answers", func() bool { mu.Lock(); defer mu.Unlock(); return ok > 3 && len(paid) > 3 })
	kill()
	stopped.Store(true)
	all.Wait()
	return ok, paid
}

// cards counts the cards of the board on the disk, by a host without the site.
func (h *aamHost) cards(t *testing.T, life int) int {
	t.Helper()
	s := h.m.serve("--state", h.dir)
	defer s.stop(syscall.SIGTERM)
	text := h.m.do(0, "invoke", "board", "get_board")
	return strings.Count(text, `"card `)
}

// flood opens connections to a site from a stranger's address, every other one with a slow
// body, and keeps the newest 600 open, which is more than twice the limit.
func (h *aamHost) flood(t *testing.T, connections int) {
	t.Helper()
	addr := strings.TrimPrefix(h.origin, "http://")
	stranger := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	var open []net.Conn
	t.Cleanup(func() {
		for _, c := range open {
			_ = c.Close()
		}
	})
	for n := range connections {
		c, err := stranger.DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Errorf("connection %d: %v", n, err)
			return
		}
		if open = append(open, c); len(open) > 600 {
			_ = open[0].Close()
			open = open[1:]
		}
		if n%2 == 0 {
			fmt.Fprintf(c, "POST /api/aam/token HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", addr)
		}
	}
}

// slowest calls until stop reports true, each time over a new connection, and returns the
// longest time that a call took.
func (h *aamHost) slowest(t *testing.T, token string, stop func(n int) bool) (worst time.Duration, calls int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for ; !stop(calls); calls++ {
		began := time.Now()
		if got := h.callCard(client, token, "add_card", "Milk", ""); got != 200 {
			t.Errorf("call %d: %d", calls, got)
		}
		worst = max(worst, time.Since(began))
	}
	return worst, calls
}

// TestAAMFlood: an address that opens many connections and sends slow bodies shuts out only
// itself. With AHP_LONG it opens 10,000, and an agent's calls meanwhile take at most a second
// longer than before.
func TestAAMFlood(t *testing.T) {
	t.Parallel()
	probe := net.ListenConfig{}
	l, err := probe.Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("this machine has one loopback address: %v", err)
	}
	_ = l.Close()
	h := newAAMHost(t)
	token, _ := h.grant(1000)
	h.serve()
	ten := func(n int) bool { return n == 10 }
	if os.Getenv("AHP_LONG") == "" {
		h.flood(t, 600)
		worst, _ := h.slowest(t, token, ten)
		t.Logf("the slowest of 10 calls beside 600 connections took %s", worst)
		return
	}
	before, _ := h.slowest(t, token, ten)
	over := make(chan struct{})
	go func() { defer close(over); h.flood(t, 10_000) }()
	during, calls := h.slowest(t, token, func(n int) bool {
		select {
		case <-over:
			return n >= 10
		default:
			return n == 400
		}
	})
	<-over
	after, _ := h.slowest(t, token, ten)
	t.Logf("the slowest of 10 calls took %s; of %d during 10,000 connections %s; of 10 beside the last 600 %s", before, calls, during, after)
	if late := max(during, after) - before; late > time.Second {
		t.Errorf("the flood delays a call by %s", late)
	}
}

// TestAAMFloodOfOwnAddress: a connection that has shown a token stays open while its own
// address opens twice as many connections as are allowed, and a new one gets in too.
func TestAAMFloodOfOwnAddress(t *testing.T) {
	t.Parallel()
	h := newAAMHost(t)
	token, _ := h.grant(1000)
	h.serve()
	addr := strings.TrimPrefix(h.origin, "http://")
	agent := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer agent.CloseIdleConnections()
	reused := false
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }}
	call := func() int {
		t.Helper()
		req, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost, h.origin+site.PathActions+"add_card", strings.NewReader(`{"list":"To do","title":"Milk"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}, "X-Agent-Vendor": {aamVendor}}
		resp, err := agent.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	if got := call(); got != 200 {
		t.Fatal(got)
	}
	for range 600 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /api/aam/token HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", addr)
	}
	if got := call(); got != 200 || !reused {
		t.Errorf("the agent's connection: %d, reused: %v", got, reused)
	}
	untilTrue(t, "a new connection of that address", func() bool {
		return h.callCard(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, token, "add_card", "Bread", "") == 200
	})
}
