package actionsbridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

type line struct {
	Dir  string    `json:"dir"`
	Item ahp.Value `json:"item"`
}

// TestRecordedSession replays a session of a real runtime: what it was sent is compared,
// and its answers are given.
func TestRecordedSession(t *testing.T) {
	replay(t, true, map[string]string{
		"call-1": "value", "call-2": "target_not_found", "call-3": "unknown_action", "call-4": "capability_unavailable", "call-5": "value",
		"call-6": "invalid_input", "call-7": "timeout", "call-8": "value", "call-9": "runtime_not_found", "call-10": "value", "call-11": "value",
		"call-12": "overlay.launcher_opened value", "call-13": "value", "call-14": "target_not_editable",
	})
	replay(t, false, map[string]string{"call-12": "permission_denied"})
}

func replay(t *testing.T, scripts bool, want map[string]string) {
	b := newBridge(t, ab.Options{Scripts: scripts})
	w := newWire()
	// The page itself connects, so it waits until a person lets it in.
	conn := b.Attach(w, ab.Principal{Kind: ab.Page, Origin: "http://127.0.0.1:18080"})
	var seen []string
	b.Watch(func(e ab.Event) {
		if e.Kind == ab.Signaled {
			seen = append(seen, e.Item.Name)
		}
	})
	calls, got := map[string]<-chan outcome{}, map[string]string{}
	end := func(id string) {
		o := <-calls[id]
		delete(calls, id)
		result := "value"
		if o.err != nil {
			result = o.err.Code
		}
		got[id] = strings.Join(append(slices.Clone(seen), result), " ")
		seen = nil
	}
	for raw := range bytes.Lines(read(t, "recordings", "bookmarklet_0.1.37_session.jsonl")) {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		item, _ := ab.DecodeItem(l.Item)
		switch {
		case l.Dir == "runtime->bridge":
			conn.Receive(l.Item)
			if item.Type == ab.TypeRuntimeReady {
				if err := b.Judge(item.RuntimeID, ab.Allow); err != nil {
					t.Fatal(err)
				}
			}
			if calls[item.CallID] != nil && (item.Type == ab.TypeOutput || item.Type == ab.TypeError) {
				end(item.CallID)
			}
		case item.Type == ab.TypeCall:
			calls[item.CallID] = start(t, b, ab.Call{ID: item.CallID, RuntimeID: item.RuntimeID, Name: item.Name, Arguments: item.Arguments, Timeout: 1e10})
			select {
			case sent := <-w.calls:
				if !ahp.Equal(sent.Encode(), l.Item) {
					t.Errorf("sent %s, recorded %s", sent.Encode(), l.Item)
				}
			case o := <-calls[item.CallID]: // nothing is sent
				got[item.CallID] = o.err.Code
				delete(calls, item.CallID)
			}
		}
	}
	for id, outcome := range want {
		if got[id] != outcome {
			t.Errorf("%s: %q, want %q", id, got[id], outcome)
		}
	}
	if len(got) != 14 || len(calls) != 0 {
		t.Errorf("%d outcomes, %d calls without one", len(got), len(calls))
	}
	all := b.Runtimes()
	if len(all) != 1 || all[0].Actions != 23 || all[0].Program != "embed" {
		t.Errorf("runtimes %+v", all)
	}
	_, err := b.Call(context.Background(), ab.Call{RuntimeID: all[0].ID, Name: "browser.screenshot"})
	wantError(t, err, ab.CodeCapabilityUnavailable)
	if n := len(w.calls); n != 0 {
		t.Errorf("%d calls were sent in addition", n)
	}
}

// TestVectors holds the bridge against expectations of the reference bridge's tests.
func TestVectors(t *testing.T) {
	var v struct {
		Ready []struct {
			Items  []ahp.Value `json:"items"`
			Expect struct {
				After  int `json:"runtimes_after_ready"`
				Closed int `json:"runtimes_after_socket_close"`
			} `json:"expect"`
		} `json:"runtime_ready_items"`
		Routing    []vector `json:"routing"`
		Validation []vector `json:"validation"`
		RoundTrips []struct {
			Reply map[string]any `json:"runtime_reply"`
			Want  map[string]any `json:"expect_response"`
		} `json:"round_trips"`
	}
	if err := json.Unmarshal(read(t, "vectors", "mcp_bridge_characterization.json"), &v); err != nil {
		t.Fatal(err)
	}
	for _, s := range v.Ready {
		b := newBridge(t, ab.Options{})
		c := b.Attach(newWire(), trusted)
		for _, item := range s.Items {
			c.Receive(item)
		}
		if n := len(b.Runtimes()); n != len(s.Items) || s.Expect.After != 0 && n != s.Expect.After {
			t.Errorf("%d runtimes", n)
		}
		if c.Close(); len(b.Runtimes()) != s.Expect.Closed {
			t.Error("runtimes after the socket closed")
		}
	}
	for _, s := range append(v.Routing, v.Validation...) {
		s.check(t)
	}
	for _, s := range v.RoundTrips {
		b := newBridge(t, ab.Options{})
		id := s.Reply["runtime_id"].(string)
		w, c := attach(b, trusted, id, "https://x.example/")
		call := start(t, b, ab.Call{RuntimeID: id, Name: "b"})
		s.Reply["call_id"] = (<-w.calls).CallID
		c.Receive(ahp.MustMarshal(s.Reply))
		o := <-call
		if s.Want["ok"] == true {
			var value map[string]any
			if o.err != nil || json.Unmarshal(o.value, &value) != nil || value["ok"] != true {
				t.Errorf("%s %v", o.value, o.err)
			}
		} else if o.err == nil || o.err.Code != s.Want["error.code"] || !strings.Contains(string(o.err.Extra), s.Want["error.available_summaries[0]"].(string)) {
			t.Errorf("%v %s", o.err, o.err.Extra)
		}
	}
}

type vector struct {
	Test     string    `json:"test"`
	Manifest ahp.Value `json:"manifest"`
	Runtimes []struct {
		ID  string `json:"runtime_id"`
		URL string `json:"url"`
	} `json:"runtimes"`
	Call struct {
		Name        string    `json:"name"`
		URLContains string    `json:"target_url_contains"`
		Arguments   ahp.Value `json:"arguments"`
	} `json:"call"`
	Upstream map[string]any `json:"upstream_expect"`
	Seed     map[string]any `json:"seed_expect"`
}

func (s vector) check(t *testing.T) {
	b := newBridge(t, ab.Options{})
	w := newWire()
	c := b.Attach(w, trusted)
	for _, r := range s.Runtimes {
		more := []string{`"manifest":{"tools":[{"name":"overlay.open"}]}`}
		if s.Manifest != nil {
			more = []string{`"manifest":` + string(s.Manifest)}
		}
		c.Receive(ready(r.ID, r.URL, more...))
	}
	r, err := b.Select(ab.Selector{URLContains: s.Call.URLContains})
	if err == nil {
		_, err = b.Call(t.Context(), ab.Call{RuntimeID: r.ID, Name: s.Call.Name, Arguments: s.Call.Arguments})
	}
	want := s.Upstream["error.code"]
	if s.Seed != nil {
		want = s.Seed["error.code"]
	}
	if err == nil || err.Code != want || float64(err.HTTPStatus()) != s.Upstream["http"] {
		t.Errorf("%s: %v, HTTP %d", s.Test, err, err.HTTPStatus())
		return
	}
	e := evidence(t, err)
	if n, ok := s.Upstream["evidence.candidates"]; ok && float64(len(e["candidates"].([]any))) != n {
		t.Errorf("%s: evidence %v", s.Test, e)
	}
	for _, member := range []string{"intent", "tool"} {
		if v, ok := s.Upstream["evidence."+member]; ok && e[member] != v {
			t.Errorf("%s: evidence %v", s.Test, e)
		}
	}
	if w.count(ab.TypeCall) != 0 {
		t.Errorf("%s: it was sent", s.Test)
	}
}

// TestSeedItems decodes the samples of the protocol's text.
func TestSeedItems(t *testing.T) {
	var v struct {
		Items []ahp.Value `json:"items"`
	}
	if err := ahp.Unmarshal(read(t, "vectors", "seed_items.json"), &v); err != nil {
		t.Fatal(err)
	}
	for _, raw := range v.Items {
		item, err := ab.DecodeItem(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		if item.Type == "function_call_output" {
			out, _ := ab.DecodeItem(v.Items[3])
			if got := ab.FunctionCallOutput("call-123", out.Output); !bytes.Equal(got, compact(raw)) {
				t.Errorf("%s", got)
			}
			continue
		}
		if !ahp.Equal(item.Encode(), raw) {
			t.Errorf("%s became %s", raw, item.Encode())
		}
	}
}

func compact(v ahp.Value) ahp.Value {
	v = v.Clone()
	_ = v.Compact()
	return v
}
