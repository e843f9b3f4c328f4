package aam_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// paidAction answers like the specification's site: 401, then 402, then the reservation.
func paidAction(price http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"ok":false,"error":{"code":"unauthorized","message":"sign in"}}`)
		case r.Header.Get("X-Payment") == "":
			price(w, r)
		default:
			w.Header().Set("X-Payment-Response", x402.Receipt{Success: true, Transaction: "0xabc", Network: "base-sepolia"}.Header())
			fmt.Fprint(w, `{"ok":true,"data":{"confirmation":"RES-AB12X9"}}`)
		}
	}
}

const reservePath = "/api/aam/actions/make_reservation"

// TestStory is the specification's example: 401, sign-in, code, 402, payment, result, and
// after the sign-in was forgotten 401 again. Both spellings of a challenge are paid.
func TestStory(t *testing.T) {
	for _, ours := range []bool{true, false} {
		e := newEnv(t)
		e.site.handle(reservePath, paidAction(challenge("50000", ours)))
		m := e.manifest(t)
		call := reservation()
		o, err := e.Invoke(t.Context(), m, e.at, call)
		if err != nil || o.Kind != aam.SignIn || o.AuthorizeURL != e.site.URL+"/agent/authorize?vendor=anthropic.com" {
			t.Fatalf("first: %+v, %v", o, err)
		}
		e.signIn(t, m)
		if o, err = e.Invoke(t.Context(), m, e.at, call); err != nil || o.Kind != aam.Payment || !*o.Payable || o.Price != "0.05 USDC on base-sepolia" {
			t.Fatalf("second: %+v, %v", o, err)
		}
		due, _ := o.Due()
		if o, err = e.Pay(t.Context(), m, e.at, call, due, "", false); err != nil || o.Kind != aam.Done || string(o.Data) != `{"confirmation":"RES-AB12X9"}` || o.Paid.Transaction != "0xabc" {
			t.Fatalf("paid: %+v, %v", o, err)
		}
		list := e.site.got(reservePath)
		if len(list) != 3 || !strings.HasPrefix(list[2].header.Get("X-Agent-Run-Id"), "run_") || list[0].header.Get("X-Agent-Vendor") != "anthropic.com" {
			t.Fatalf("requests: %+v", list)
		}
		p, reason := x402.Verify(due.Requirement, list[2].header.Get("X-Payment"), time.Now(), nil)
		if reason != nil || p.Data.Authorization.Value.String() != "50000" {
			t.Errorf("the payment: %v", reason)
		}
		if i, ok := e.ledger.Payment(call.ID); !ok || i.State != aam.StatePaid {
			t.Errorf("ledger: %+v", i)
		}
		noSecrets(t, e.dir, token, devKey, list[2].header.Get("X-Payment"), "KQ7F")
		if err := e.Forget(m, e.at, "maria"); err != nil {
			t.Fatal(err)
		}
		if o, err = e.Invoke(t.Context(), m, e.at, reservation()); err != nil || o.Kind != aam.SignIn {
			t.Errorf("forgotten: %+v, %v", o, err)
		}
	}
}

// TestTokenStays sends a token to the site, vendor and person that it is of.
func TestTokenStays(t *testing.T) {
	e := newEnv(t)
	m := e.manifest(t)
	e.signIn(t, m)
	var seen atomic.Pointer[string]
	free := func(w http.ResponseWriter, r *http.Request) {
		a := r.Header.Get("Authorization")
		seen.Store(&a)
		fmt.Fprint(w, `{"ok":true}`)
	}
	const path = "/api/aam/actions/check_availability"
	e.site.handle(path, free)
	call := aam.Call{ID: "1", Action: "check_availability", Person: "maria", Params: ahp.Value(`{"date":"2026-05-02","time":"19:00","party_size":4}`)}
	for _, c := range []struct {
		at     aam.Site
		person string
		sent   bool
	}{{e.at, "maria", true}, {e.at, "tom", false}, {aam.Site{Origin: e.at.Origin, Path: "/b/other"}, "maria", false}} {
		call.Person = c.person
		if _, err := e.Invoke(t.Context(), m, c.at, call); err != nil {
			t.Fatal(err)
		}
		if got := *seen.Load(); (got == "Bearer "+token) != c.sent {
			t.Errorf("%v %s: sent %q", c.at, c.person, got)
		}
	}
	// A 401 drops it.
	e.site.handle(path, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	call.Person = "maria"
	if o, err := e.Invoke(t.Context(), m, e.at, call); err != nil || o.Kind != aam.SignIn {
		t.Fatalf("%+v, %v", o, err)
	}
	if _, ok := e.SignedInAt(m, e.at, "maria"); ok || len(e.vault.List()) != 0 {
		t.Error("the refused token is kept")
	}
}

// TestRedirects sends no token and no payment to another origin, whatever a site answers.
func TestRedirects(t *testing.T) {
	var tokens atomic.Int32
	canary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens.Add(1)
		fmt.Fprint(w, `{"ok":true}`)
	}))
	t.Cleanup(canary.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		e := newEnv(t)
		m := e.manifest(t)
		e.signIn(t, m)
		away := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, canary.URL+"/x", status) }
		e.site.handle("/api/aam/actions/check_availability", away)
		_, err := e.Invoke(t.Context(), m, e.at, aam.Call{Action: "check_availability", Person: "maria", Params: ahp.Value(`{"date":"2026-05-02","time":"19:00","party_size":4}`)})
		if err == nil {
			t.Errorf("%d: no error", status)
		}
		e.site.handle("/api/aam/token", away)
		if _, err := e.Exchange(t.Context(), m, e.at, "maria", "KQ7F-M2XW"); err == nil {
			t.Errorf("%d: a code was exchanged", status)
		}
		e.site.handle(aam.WellKnown, away)
		if _, _, err := e.Discover(t.Context(), e.at); code(err) != aam.CodeSiteUnavailable || !strings.Contains(err.Error(), canary.URL) {
			t.Errorf("%d: %v", status, err)
		}
	}
	if n := tokens.Load(); n != 0 {
		t.Errorf("%d requests at another origin", n)
	}
}

// TestSentOnce loses the answer after the request has left: the outcome is unknown, and
// there is one request.
func TestSentOnce(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"before the header": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		},
		"within the body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"ok"`)
			panic(http.ErrAbortHandler)
		},
	} {
		e := newEnv(t)
		e.site.handle(reservePath, h)
		m := e.manifest(t)
		_, err := e.Invoke(t.Context(), m, e.at, reservation())
		if code(err) != aam.CodeOutcomeUnknown || len(e.site.got(reservePath)) != 1 {
			t.Errorf("%s: %v, %d requests", name, err, len(e.site.got(reservePath)))
		}
		e.site.Close()
		if _, err := e.Invoke(t.Context(), m, e.at, reservation()); code(err) != aam.CodeSiteUnavailable {
			t.Errorf("%s, site down: %v", name, err)
		}
	}
}

// TestMoved does not send a request to another address of the site, which could run it a
// second time.
func TestMoved(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		e := newEnv(t)
		e.site.handle(reservePath, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/moved", status) })
		e.site.handle("/moved", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) })
		if _, err := e.Invoke(t.Context(), e.manifest(t), e.at, reservation()); err == nil || len(e.site.got("/moved")) != 0 {
			t.Errorf("%d: %v, %d requests", status, err, len(e.site.got("/moved")))
		}
	}
}

// TestAnswers turns answers of sites into outcomes and errors.
func TestAnswers(t *testing.T) {
	e := newEnv(t)
	m := e.manifest(t)
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{200, `{"ok":true,"data":[1]}`, "[1]"},
		{201, `{"free":["19:00"]}`, `{"free":["19:00"]}`},
		{200, `null`, "null"},
		{200, `{"ok":false,"error":{"code":"full","message":"no table"}}`, aam.CodeActionFailed},
		{200, `<html>`, aam.CodeActionFailed},
		{200, ``, aam.CodeActionFailed},
		{403, `{"ok":false,"error":{"code":"forbidden","message":"x"}}`, aam.CodeForbidden},
		{403, `{"error":{"code":"limit_exceeded"}}`, aam.CodeLimitExceeded},
		{429, ``, aam.CodeLimitExceeded},
		{400, `{"error":{"code":"invalid_params","path":"/name"}}`, aam.CodeInputInvalid},
		{404, ``, aam.CodeInputInvalid},
		{502, `{"error":"boom"}`, aam.CodeActionFailed},
		{503, ``, aam.CodeSiteUnavailable},
		{504, ``, aam.CodeOutcomeUnknown},
	} {
		e.site.handle(reservePath, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		o, err := e.Invoke(t.Context(), m, e.at, reservation())
		got := string(o.Data)
		if err != nil {
			got = code(err)
		}
		if got != c.want {
			t.Errorf("%d %s: %s, %v", c.status, c.body, got, err)
		}
	}
	e.site.handle(reservePath, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `"%s"`, strings.Repeat("x", 50<<10)) })
	if o, err := e.Invoke(t.Context(), m, e.at, reservation()); err != nil || !o.TooLarge || o.Data != nil || o.Kind != aam.Done {
		t.Errorf("50 KiB: %v, %v", o.Kind, err)
	}
	if _, err := e.Invoke(t.Context(), m, e.at, aam.Call{Action: "pay_all"}); code(err) != aam.CodeInputInvalid {
		t.Errorf("an unknown action: %v", err)
	}
	before := len(e.site.got(reservePath))
	if _, err := e.Invoke(t.Context(), m, e.at, aam.Call{Action: "make_reservation", Params: ahp.Value(`{"date":"x"}`)}); code(err) != aam.CodeInputInvalid || len(e.site.got(reservePath)) != before {
		t.Errorf("bad params: %v", err)
	}
}

// TestGet sends parameters as a query, to an endpoint of the manifest.
func TestGet(t *testing.T) {
	e := newEnv(t)
	e.site.manifest = strings.Replace(e.site.manifest, `"id": "check_availability",`, `"id": "check_availability","endpoint":"/free?v=1","method":"GET",`, 1)
	e.site.handle("/free", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) })
	if _, err := e.Invoke(t.Context(), e.manifest(t), e.at, aam.Call{Action: "check_availability", Params: ahp.Value(`{"date":"2026-05-02","time":"19:00","party_size":4}`)}); err != nil {
		t.Fatal(err)
	}
	if got := e.site.got("/free"); len(got) != 1 || got[0].path != "/free?date=2026-05-02&party_size=4&time=19%3A00&v=1" || got[0].method != "GET" {
		t.Errorf("%+v", got)
	}
}

// TestManifestAnswers tells a site without a manifest from one that cannot be used.
func TestManifestAnswers(t *testing.T) {
	for want, h := range map[string]http.HandlerFunc{
		aam.CodeNoManifest:           http.NotFound,
		aam.CodeNoManifest + " html": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html>") },
		aam.CodeManifestInvalid: func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"aam_version":"2.0","site":{"name":"x","domain":"y"}}`)
		},
		aam.CodeManifestInvalid + " l": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 300<<10)) },
		aam.CodeSiteUnavailable:        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
	} {
		e := newEnv(t)
		e.site.handle(aam.WellKnown, h)
		if _, _, err := e.Discover(t.Context(), e.at); !strings.HasPrefix(want, code(err)) {
			t.Errorf("%s: %v", want, err)
		}
	}
	e := newEnv(t)
	e.manifest(t)
	got := e.site.got(aam.WellKnown)[0].header
	if got.Get("Authorization") != "" || got.Get("X-Agent-Vendor") != "anthropic.com" || got.Get("Cookie") != "" {
		t.Errorf("the fetch says %v", got)
	}
}

// TestBusy refuses the fifth call of a site at once.
func TestBusy(t *testing.T) {
	e := newEnv(t)
	m := e.manifest(t)
	release := make(chan struct{})
	arrived := make(chan struct{}, 8)
	e.site.handle(reservePath, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-release
		fmt.Fprint(w, `{}`)
	})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := e.Invoke(t.Context(), m, e.at, reservation()); err != nil {
				t.Error(err)
			}
		})
	}
	for range 4 {
		<-arrived
	}
	if _, err := e.Invoke(t.Context(), m, e.at, reservation()); code(err) != aam.CodeTooMany {
		t.Errorf("the fifth: %v", err)
	}
	close(release)
	wg.Wait()
}

// jwt is a credential with a signature that no one checks here.
func jwt(head, claims string) string {
	b := base64.RawURLEncoding.EncodeToString
	return b([]byte(head)) + "." + b([]byte(claims)) + "." + b([]byte("signature"))
}

const rs256 = `{"alg":"RS256","kid":"k"}`

func claims(aud string, change ...string) string {
	return strings.NewReplacer(change...).Replace(fmt.Sprintf(`{"iss":"https://id.example","sub":"a@b.c","aud":%q,"iat":1,"exp":%d,"agent_vendor":"anthropic.com"}`, aud, time.Now().Add(time.Hour).Unix()))
}

func withIssuer(e *env) {
	e.site.manifest = strings.Replace(e.site.manifest, `"required": true`, `"required": true, "accepted_identity_proofs":[{"type":"aam_id","issuer":"https://id.example","connect_url_pattern":"https://id.example/c?agent={agent}"}]`, 1)
}

// TestCredential keeps a credential that can be good here, and sends it to the sites that
// it is for.
func TestCredential(t *testing.T) {
	e := newEnv(t)
	withIssuer(e)
	m := e.manifest(t)
	e.site.handle(reservePath, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%t", r.Header.Get("Authorization") != "")
	})
	for name, bad := range map[string]string{
		"none":    jwt(`{"alg":"none"}`, claims("127.0.0.1")),
		"hs256":   jwt(`{"alg":"HS256"}`, claims("127.0.0.1")),
		"expired": jwt(rs256, claims("127.0.0.1", `"exp":`, `"exp":1,"x":`)),
		"no end":  jwt(rs256, claims("127.0.0.1", `"exp":`, `"exp":0,"x":`)),
		"issuer":  jwt(rs256, claims("127.0.0.1", "https://id.example", "https://evil.example")),
		"vendor":  jwt(rs256, claims("127.0.0.1", "anthropic.com", "other.example")),
		"site":    jwt(rs256, claims("bank.example")),
		"9 KiB":   jwt(rs256, claims("127.0.0.1", `"iat":1`, `"x":"`+strings.Repeat("x", 9<<10)+`"`)),
	} {
		if _, err := e.Exchange(t.Context(), m, e.at, "maria", bad); code(err) != aam.CodeSignInFailed || len(e.vault.List()) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.Exchange(t.Context(), m, e.at, "maria", jwt(rs256, claims("127.0.0.1"))); err != nil {
		t.Fatal(err)
	}
	if o, err := e.Invoke(t.Context(), m, e.at, reservation()); err != nil || string(o.Data) != "true" {
		t.Errorf("for the site: %s, %v", o.Data, err)
	}
	if got := e.site.got("/api/aam/token"); len(got) != 0 {
		t.Error("a credential went to the token address")
	}
}

// TestCredentialForAny waits for the person before a credential for any site goes to one.
func TestCredentialForAny(t *testing.T) {
	e := newEnv(t)
	withIssuer(e)
	m := e.manifest(t)
	e.site.handle(reservePath, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%t", r.Header.Get("Authorization") != "")
	})
	if _, err := e.Exchange(t.Context(), m, e.at, "maria", jwt(rs256, claims("any"))); err != nil {
		t.Fatal(err)
	}
	if o, err := e.Invoke(t.Context(), m, e.at, reservation()); err != nil || string(o.Data) != "false" || e.Blocked(m, e.at, "maria") != "https://id.example" {
		t.Errorf("before: %s, %v", o.Data, err)
	}
	if err := e.Allow(m, e.at, "maria"); err != nil {
		t.Fatal(err)
	}
	if o, err := e.Invoke(t.Context(), m, e.at, reservation()); err != nil || string(o.Data) != "true" {
		t.Errorf("after: %s, %v", o.Data, err)
	}
	// A second site that refuses it takes it from no other.
	second := newSite(t)
	second.manifest = e.site.manifest
	at, err := aam.ParseSite(second.URL, true)
	if err != nil {
		t.Fatal(err)
	}
	m2, _, err := e.Discover(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if e.Blocked(m2, at, "maria") == "" || e.Forget(m2, at, "maria") != nil || e.Allow(m2, at, "maria") != nil {
		t.Error("the second site")
	}
	second.handle(reservePath, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	if o, err := e.Invoke(t.Context(), m2, at, reservation()); err != nil || o.Kind != aam.SignIn || len(second.got(reservePath)) != 1 || second.got(reservePath)[0].header.Get("Authorization") == "" {
		t.Errorf("refused: %+v, %v", o, err)
	}
	if e.Blocked(m2, at, "maria") == "" {
		t.Error("the second site still gets it")
	}
	if o, err := e.Invoke(t.Context(), m, e.at, reservation()); err != nil || string(o.Data) != "true" {
		t.Errorf("the first site: %s, %v", o.Data, err)
	}
}

// names answers every name with one address, on a real socket.
func names(t *testing.T, address netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			switch {
			case q.Type == dnsmessage.TypeA && address.Is4():
				m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: address.As4()}}}
			case q.Type == dnsmessage.TypeAAAA && address.Is6():
				m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}}}
			}
			if raw, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(raw, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// TestDNS: a site whose name means an address of this machine or its network is not
// reached.
func TestDNS(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "192.168.1.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00::1"} {
		web := outbound.New(outbound.Options{Resolver: names(t, netip.MustParseAddr(address))})
		c := aam.New(aam.Options{HTTP: web, Vendor: "anthropic.com"})
		at, err := aam.ParseSite("rebind.example", false)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Discover(t.Context(), at); code(err) != aam.CodeSiteUnavailable || !strings.Contains(err.Error(), "its name does not mean a public address") {
			t.Errorf("%s: %v", address, err)
		}
		_ = web.Close()
	}
}

// BenchmarkInvoke calls an action, and beside it posts the same with net/http alone. x-post
// is the ratio of the medians.
func BenchmarkInvoke(b *testing.B) {
	e := newEnv(b)
	e.site.handle(reservePath, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"ok":true,"data":1}`) })
	m, _, err := e.Discover(b.Context(), e.at)
	if err != nil {
		b.Fatal(err)
	}
	call := reservation()
	var ours, alone []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := e.Invoke(b.Context(), m, e.at, call); err != nil {
			b.Fatal(err)
		}
		ours, began = append(ours, time.Since(began)), time.Now()
		resp, err := http.Post(e.site.URL+reservePath, "application/json", strings.NewReader(string(call.Params)))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
		alone = append(alone, time.Since(began))
	}
	slices.Sort(ours)
	slices.Sort(alone)
	b.ReportMetric(float64(ours[len(ours)/2])/float64(alone[len(alone)/2]), "x-post")
}
