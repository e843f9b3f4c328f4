package aamcanvas

import (
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// TestManifestKept: the manifest is kept for five minutes, and refresh reads it at once.
func TestManifestKept(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	discover := func(input string) string {
		t.Helper()
		raw, err := e.s.Invoke(t.Context(), "discover", ahp.Value(input))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	pass := func(d time.Duration) { e.now.Add(int64(d)) }
	pass(time.Minute)
	e.cafe.set("0.60", "600000")
	if got := discover(`{}`); !strings.Contains(got, "0.05 USDC") {
		t.Errorf("after a minute: %s", got)
	}
	if got := discover(`{"refresh":true}`); !strings.Contains(got, "0.60 USDC") {
		t.Errorf("refreshed: %s", got)
	}
	e.cafe.set("0.70", "700000")
	pass(4 * time.Minute)
	if got := discover(`{}`); !strings.Contains(got, "0.60 USDC") {
		t.Errorf("after four minutes: %s", got)
	}
	pass(time.Minute)
	if got := discover(`{}`); !strings.Contains(got, "0.70 USDC") {
		t.Errorf("after five minutes: %s", got)
	}
}

// TestApprovalEnds: the approval of a call that the site did not run is good for ten minutes;
// its result can be read for an hour.
func TestApprovalEnds(t *testing.T) {
	t.Parallel()
	e := startSite(t)
	first := e.invoke("invoke", checkCall)
	e.approve("")
	if o := e.outcome(first.Call); o.Kind != aam.SignIn {
		t.Fatalf("first: %+v", o)
	}
	e.now.Add(int64(9 * time.Minute))
	second := e.invoke("invoke", checkCall)
	if o := e.outcome(second.Call); o.Kind != aam.SignIn {
		t.Errorf("after nine minutes: %+v", o)
	}
	e.now.Add(int64(10 * time.Minute))
	third := e.invoke("invoke", checkCall)
	if third.WaitsFor != "approval" {
		t.Errorf("ten minutes after the last try: %+v", third)
	}
	if o := e.invoke("result", `{"call":"`+second.Call+`"}`); o.Kind != aam.SignIn {
		t.Errorf("the second result: %+v", o)
	}
	e.now.Add(int64(time.Hour))
	e.invoke("invoke", `{"action":"check","params":{"date":"sunday"}}`)
	if o := e.invoke("result", `{"call":"`+second.Call+`"}`); o.Kind != aam.CodeInputInvalid {
		t.Errorf("after an hour: %+v", o)
	}
}
