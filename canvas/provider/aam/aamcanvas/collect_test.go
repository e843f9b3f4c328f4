package aamcanvas

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// post sends a request to the site, and returns the body of its answer.
func (e *agentsEnv) post(path, body string, header http.Header) string {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, e.url+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		e.t.Fatalf("%s: %d %s %v", path, resp.StatusCode, raw, err)
	}
	return string(raw)
}

// sign signs a payment of 0.05 USDC with a new key.
func sign(t testing.TB) string {
	t.Helper()
	key, err := x402.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	network, _ := x402.NetworkOf(x402.BaseSepolia)
	amount, err1 := x402.ParsePrice("0.05")
	to, err2 := x402.ParseAddress(payTo)
	data, err3 := x402.Authorize(key.Account(), x402.Price{Network: network, Amount: amount, PayTo: to}, 10*time.Minute, time.Now())
	sig, err4 := key.Sign(t.Context(), data)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		t.Fatal(err1, err2, err3, err4)
	}
	return x402.Header(data, sig)
}

// TestCollect: a person has signed payments collected, and gets the sum; an agent cannot,
// neither by an action nor as a View, and nothing is sent for it.
func TestCollect(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	facilitator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, `{"isValid":true,"success":true,"transaction":"0xabc","network":"base-sepolia"}`)
	}))
	t.Cleanup(facilitator.Close)
	e := startAgents(t, func(c *site.Config) {
		c.Actions[0].Pricing = aam.Pricing{Type: aam.X402, Amount: "0.05", Currency: "USDC", Network: x402.BaseSepolia, PayTo: payTo}
		c.Settle = &site.Settle{Later: site.Duration(5 * time.Minute), Facilitator: facilitator.URL}
	})
	e.ask()
	code, err := e.site.Approve(e.site.Pending()[0].ID, site.Grant{PerDay: 5})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(e.post(site.PathToken, `{"code":"`+code+`"}`, http.Header{}), `"access_token":"`)
	e.post(site.PathActions+"add_card", "{}", http.Header{"Authorization": {"Bearer " + rest[:68]}, "X-Agent-Vendor": {agentVendor}, "X-Payment": {sign(t)}})

	for _, v := range []canvas.View{agentRun, watcher} {
		e.send(v, map[string]any{"aam": "collect", "ref": "c"})
		if got := last[answer](t, e.b, v, "refused"); got.Code != "person_required" {
			t.Errorf("%s: %+v", v.Role, got)
		}
	}
	if n := asked.Load(); n != 0 || e.site.Payments()[0].State != site.StateSigned {
		t.Fatalf("the facilitator was asked %d times without a person", n)
	}
	collect := func() answer {
		t.Helper()
		e.send(owner, map[string]any{"aam": "collect", "ref": "c"})
		e.p.agents.waitCollected()
		return last[answer](t, e.b, owner, "done")
	}
	if got := collect(); got.Collected == nil || got.Collected.Collected != 1 {
		t.Errorf("collected: %+v", got.Collected)
	}
	if got := collect(); got.Collected == nil || *got.Collected != (site.Collected{}) {
		t.Errorf("again: %+v", got.Collected)
	}
}

// TestCollectNothing: without a facilitator the words say so.
func TestCollectNothing(t *testing.T) {
	t.Parallel()
	e := startAgents(t)
	e.send(owner, map[string]any{"aam": "collect", "ref": "c"})
	e.p.agents.waitCollected()
	if got := last[answer](t, e.b, owner, "refused"); got.Code != CodeNoFacilitator {
		t.Errorf("%+v", got)
	}
}

// waitCollected waits for the batch that runs.
func (b *agentsHub) waitCollected() {
	for b.collecting.Load() {
		runtime.Gosched()
	}
}
