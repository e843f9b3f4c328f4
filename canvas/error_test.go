package canvas_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// TestErrorDetails checks which details reach the wire: an object of at most 4 KiB.
func TestErrorDetails(t *testing.T) {
	object := func(size int) string { return `{"a":"` + strings.Repeat("x", size-len(`{"a":""}`)) + `"}` }
	for _, tc := range []struct {
		details string
		sent    bool
	}{
		{`{"tray":2}`, true}, {object(canvas.MaxDetails), true},
		{object(canvas.MaxDetails + 1), false}, {`[1]`, false}, {`"x"`, false}, {`{`, false}, {"{\"a\":\"\xff\"}", false}, {``, false},
	} {
		err := (&canvas.Error{Code: "jam", Message: "paper jam", Details: ahp.Value(tc.details)}).Wire()
		want := `{"code":"jam","message":"paper jam"}`
		if tc.sent {
			want = `{"code":"jam","message":"paper jam","details":` + tc.details + `}`
		}
		if string(err.Data) != want {
			t.Errorf("%.40s: data is %.80s, want %.80s", tc.details, err.Data, want)
		}
	}
}
