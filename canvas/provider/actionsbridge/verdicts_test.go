package actionsbridge_test

import (
	"fmt"
	"testing"

	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// TestAllowanceIsForOne: an allowance is for one kind of program, origin and runtime_key: a
// runtime_id that looks like a key is none, and neither is another kind of the same origin.
func TestAllowanceIsForOne(t *testing.T) {
	b := newBridge(t, ab.Options{})
	attach(b, shop, "same", "https://shop.example/")
	if err := b.Judge("same", ab.Allow); err != nil {
		t.Fatal(err)
	}
	attach(b, shop, "other", "https://shop.example/", `"runtime_key":"same"`)
	attach(b, ab.Principal{Kind: ab.Extension, Origin: shop.Origin}, "extension", "https://shop.example/")
	attach(b, shop, "keyed", "https://shop.example/", `"runtime_key":"k"`)
	if err := b.Judge("keyed", ab.Allow); err != nil {
		t.Fatal(err)
	}
	attach(b, ab.Principal{Kind: ab.Extension, Origin: shop.Origin}, "keyed by an extension", "https://shop.example/", `"runtime_key":"k"`)
	attach(b, shop, "twin", "https://shop.example/", `"runtime_key":"k"`)
	for id, want := range map[string]ab.State{"same": ab.Ready, "other": ab.Waiting, "extension": ab.Waiting, "keyed": ab.Ready, "keyed by an extension": ab.Waiting, "twin": ab.Ready} {
		if r, _ := b.Runtime(id); r.State != want {
			t.Errorf("%s is %s, want %s", id, r.State, want)
		}
	}
}

// TestScriptsOfAllowances: that a person allowed scripts holds when they press Allow once
// more, and not for another authorization or after a refusal.
func TestScriptsOfAllowances(t *testing.T) {
	b := newBridge(t, ab.Options{})
	_, c := attach(b, shop, "r", "https://shop.example/", `"authorization_id":"a"`)
	check := func(when string, want bool) {
		t.Helper()
		if r, _ := b.Runtime("r"); r.State != ab.Ready || r.Scripts != want {
			t.Errorf("%s: %s, scripts %v", when, r.State, r.Scripts)
		}
	}
	judge := func(all ...ab.Verdict) {
		t.Helper()
		for _, v := range all {
			if err := b.Judge("r", v); err != nil {
				t.Fatal(err)
			}
		}
	}
	judge(ab.Allow)
	check("allowed", false)
	judge(ab.AllowScripts, ab.Allow)
	check("scripts, then allowed once more", true)
	c.Receive(ready("r", "https://shop.example/", `"authorization_id":"b"`))
	judge(ab.Allow)
	check("another authorization", false)
	judge(ab.AllowScripts, ab.Refuse, ab.Allow)
	check("refused meanwhile", false)
}

// TestVerdictOnTwins: tabs with one key are allowed together only if their authorization is
// the same; a refusal is for all.
func TestVerdictOnTwins(t *testing.T) {
	b := newBridge(t, ab.Options{})
	for id, authorization := range map[string]string{"one": "a", "two": "a", "three": "b"} {
		attach(b, shop, id, "https://shop.example/", `"runtime_key":"k"`, fmt.Sprintf(`"authorization_id":%q`, authorization))
	}
	check := func(when string, want ...ab.State) {
		t.Helper()
		for n, id := range []string{"one", "two", "three"} {
			if r, _ := b.Runtime(id); r.State != want[n] {
				t.Errorf("%s: %s is %s, want %s", when, id, r.State, want[n])
			}
		}
	}
	_ = b.Judge("one", ab.Allow)
	check("allowed", ab.Ready, ab.Ready, ab.Waiting)
	_ = b.Judge("one", ab.Refuse)
	check("refused", ab.Refused, ab.Refused, ab.Refused)
}

// TestOldestVerdictGoes: 1,024 verdicts are kept; one that a person gave again is new.
func TestOldestVerdictGoes(t *testing.T) {
	b := newBridge(t, ab.Options{})
	connect := func(n int) *ab.Conn {
		_, c := attach(b, shop, fmt.Sprint("r", n), "https://shop.example/", fmt.Sprintf(`"runtime_key":"k%d"`, n))
		return c
	}
	allow := func(n int) {
		t.Helper()
		c := connect(n)
		if err := b.Judge(fmt.Sprint("r", n), ab.Allow); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	check := func(n int, want ab.State) {
		t.Helper()
		c := connect(n)
		if r, _ := b.Runtime(fmt.Sprint("r", n)); r.State != want {
			t.Errorf("page %d is %s, want %s", n, r.State, want)
		}
		c.Close()
	}
	const limit = 1024
	for n := range limit {
		allow(n)
	}
	check(0, ab.Ready)
	allow(0)
	allow(limit)
	check(0, ab.Ready)
	check(1, ab.Waiting)
	check(2, ab.Ready)
}
