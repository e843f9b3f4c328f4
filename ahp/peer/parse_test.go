package peer

import (
	"testing"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// FuzzParse: every input is a request, an answer, or is refused with a valid message
// of valid UTF-8.
func FuzzParse(f *testing.F) {
	for _, in := range badInput {
		f.Add([]byte(in.send))
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
