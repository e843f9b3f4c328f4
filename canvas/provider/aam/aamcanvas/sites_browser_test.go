package aamcanvas

import (
	"errors"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestExpiryOnTheCard: a question that the person saw and did not answer leaves the card;
// the agent learns that nothing was sent.
func TestExpiryOnTheCard(t *testing.T) {
	t.Parallel()
	e := startSite(t, func(o *SiteOptions) { o.KeepAsk = 2 * time.Second })
	h, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Serve(t, h)
	if _, err := h.Add(e.p); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Canvases().Open(t.Context(), canvas.OpenArgs{
		Session: host.DefaultSession, CanvasID: SiteID, InstanceID: "site", Input: ahp.MustMarshal(siteInput{e.cafe.URL}),
	}); err != nil {
		t.Fatal(err)
	}
	do := func(action, input string) (ahp.Value, error) {
		return h.Canvases().Invoke(t.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "site", ActionName: action, Input: ahp.Value(input)})
	}
	tab := webtest.Start(t).Open(t, h.Link(host.DefaultSession))
	frame := tab.Frames(t, 1, webtest.ContentFrame)[0]
	const card = `document.querySelector("iframe").contentDocument`
	frame.Wait(t, card+`.body.getAttribute("aria-busy") === "false"`)

	var call string
	for call == "" { // a slow browser can miss a question
		asked, err := do("invoke", checkCall)
		if err != nil {
			t.Fatal(err)
		}
		var o struct {
			Call string    `json:"call"`
			Rest ahp.Value `json:",embed"`
		}
		if err := ahp.Unmarshal(asked, &o); err != nil || o.Call == "" {
			t.Fatalf("%s: %v", asked, err)
		}
		if frame.WaitAtMost(time.Second, card+`.querySelector("#asks .main")`) {
			call = o.Call
		}
	}
	frame.Wait(t, `!`+card+`.querySelector("#asks .main")`)
	if _, err := do("result", `{"call":"`+call+`"}`); !errors.Is(err, &canvas.Error{Code: aam.CodeDeclined}) {
		t.Errorf("the agent gets %v", err)
	}
	if n, _ := e.cafe.calls(); n != 0 {
		t.Errorf("%d requests to the site", n)
	}
}
