package engine

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// TestEncodedMessage: an encoded message has the same bytes on the wire as a decoded
// one.
func TestEncodedMessage(t *testing.T) {
	m := canvas.Message{Payload: ahp.Value(`{"x-ahp":"http/1","type":"data","id":3,"seq":0,"data":"ZGF0YTogMQoK"}`)}
	usual, err := canvas.Actions.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	quick, err := canvas.Actions.Encode(encodedMessage{m})
	if err != nil {
		t.Fatal(err)
	}
	want, size := string(usual.Bytes()), quick.Size()
	if got := string(quick.Append(nil)); got != want || size < len(want) {
		t.Errorf("%s\nwant %s; size %d, needs %d bytes", got, want, size, len(want))
	}
	if got := string(usual.Append(nil)); got != want || usual.Size() != len(want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}
