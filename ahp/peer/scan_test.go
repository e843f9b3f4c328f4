package peer

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The scanner says of every text what the strict decoder says, and cuts the same
// members out of it.
func FuzzScan(f *testing.F) {
	for _, in := range badInput {
		f.Add([]byte(in.say))
	}
	for _, s := range []string{`{"a":"\ud83d\ude00"}`, `{"a":"\udc00\ud800"}`, `[1e5,-0,0.1,1E+2]`, `{"":{"":1}}`, `{"a\u0000":1,"a\u0000":2}`, `-`, `"\u12`, `tru`, `{"a":1,"\ufffd":2,"�":3}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var env envelope
		_, err := scan(data, 1000, -1, &env)
		var want ahp.Value
		wantErr := ahp.Unmarshal(data, &want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("scan: %v, decoder: %v", err, wantErr)
		}
		if err != nil || want.Kind() != '{' {
			return
		}
		var members struct {
			ID     ahp.Value `json:"id,omitzero"`
			Method ahp.Value `json:"method,omitzero"`
			Params ahp.Value `json:"params,omitzero"`
			Result ahp.Value `json:"result,omitzero"`
			Error  ahp.Value `json:"error,omitzero"`
		}
		if err := ahp.Unmarshal(data, &members); err != nil {
			t.Fatal(err)
		}
		got := []ahp.Value{env.id, env.method, env.params, env.result, env.err}
		ref := []ahp.Value{members.ID, members.Method, members.Params, members.Result, members.Error}
		if diff := cmp.Diff(ref, got, cmp.Comparer(func(a, b ahp.Value) bool { return string(a) == string(b) })); diff != "" {
			t.Error(diff)
		}
	})
}

// Whatever comes in: a request that can be handed on, an answer, or one refusal
// that is itself a valid message of valid UTF-8.
func FuzzParse(f *testing.F) {
	for _, in := range badInput {
		f.Add([]byte(in.say))
	}
	o := Options{}.withDefaults()
	f.Fuzz(func(t *testing.T, data []byte) {
		var env envelope
		refused := parse(data, &o, &env)
		if refused == nil {
			if env.method != nil {
				_ = textOf(env.method)
				checkFrame(t, resultFrame(env.id, env.params), env.id != nil)
				return
			}
			_, _ = env.callID()
			if result, err := env.answer(); (result == nil) == (err == nil) {
				t.Errorf("result %s and error %v", result, err)
			}
			return
		}
		id := refused.id
		if id == nil {
			id = []byte(nullID)
		}
		checkFrame(t, errorFrame(id, refused.err), true)
	})
}

func checkFrame(t *testing.T, frame []byte, check bool) {
	t.Helper()
	var v ahp.Value
	if err := ahp.Unmarshal(frame, &v); check && (err != nil || !utf8.Valid(frame)) {
		t.Errorf("%q: %v", frame, err)
	}
}

// An object of many members costs linear time, deep ones no more than the limit
// of the stack.
func TestScanHostile(t *testing.T) {
	var env envelope
	if _, err := scan([]byte(`{`+numbered(200000)+`}`), 64, -1, &env); err != nil {
		t.Error(err)
	}
	if _, err := scan([]byte(strings.Repeat("[", 4<<20)), 64, -1, &env); err != errDepth {
		t.Error(err)
	}
}
