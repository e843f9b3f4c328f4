package session

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestEncodedCatalog: the cached encoding equals that of the encoder, whichever entries
// were encoded before and have changed since.
func TestEncodedCatalog(t *testing.T) {
	title, other := "A \"title\" \u2028 <", "another"
	plain := OpenCanvasRef{InstanceID: "i", Channel: "ahp-canvas:/1", CanvasID: "c", ExtensionID: "e", Availability: Ready}
	full := plain
	full.ExtensionName, full.Title, full.Extra = "Ext", &title, ahp.Value(`{"more":[1]}`)
	odd := plain
	odd.InstanceID, odd.Title = "no UTF-8: \xff\x00", &other
	titled := plain
	titled.Title = &title
	lists := [][]OpenCanvasRef{nil, {}, {plain}, {plain.Encoded(), full.Encoded(), titled.Encoded(), odd.Encoded()}, {full, odd, titled.Encoded(), plain}}
	for _, change := range []func(*OpenCanvasRef){
		func(r *OpenCanvasRef) { r.InstanceID = "j" },
		func(r *OpenCanvasRef) { r.Channel = "ahp-canvas:/2" },
		func(r *OpenCanvasRef) { r.CanvasID = "d" },
		func(r *OpenCanvasRef) { r.ExtensionID = "f" },
		func(r *OpenCanvasRef) { r.ExtensionName = "named" },
		func(r *OpenCanvasRef) { r.Title = &other },
		func(r *OpenCanvasRef) { r.Title = nil },
		func(r *OpenCanvasRef) { r.Availability = Stale },
		func(r *OpenCanvasRef) { r.Extra = ahp.Value(`{"x":1}`) },
	} {
		changed := titled.Encoded()
		change(&changed)
		lists = append(lists, []OpenCanvasRef{plain.Encoded(), changed})
	}
	for _, list := range lists {
		a := OpenCanvasesChanged{OpenCanvases: list}
		enc, err := Actions.Encode(a)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"type":"session/openCanvasesChanged",` + string(ahp.MustMarshal(a))[1:]
		if got := string(enc.Bytes()); got != want {
			t.Errorf("have %s\nwant %s", got, want)
		}
	}
}
