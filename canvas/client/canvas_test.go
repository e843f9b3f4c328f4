package client_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

func TestCanvas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		c := h.dial(t, client.Options{ClientID: "view", Subscriptions: []string{sessionA}})
		w := c.Watch()
		defer w.Close()
		next(t, w)
		o := h.open("n1")
		opened, _ := next(t, w).Action.(session.OpenCanvasesChanged)
		if len(opened.OpenCanvases) != 1 || opened.OpenCanvases[0].Channel != o.Channel {
			t.Fatalf("catalog %+v", opened)
		}
		must(c.Subscribe(t.Context(), o.Channel))
		if st, ok := c.Canvas(o.Channel); !ok || st.InstanceID != "n1" || *st.Title != "Note" || st.Availability != session.Ready {
			t.Errorf("canvas %+v %v", st, ok)
		}
		next(t, w) // the snapshot

		if err := c.Message(t.Context(), o.Channel, map[string]int{"x": 1}); err != nil {
			t.Fatal(err)
		}
		want := canvas.Message{Payload: ahp.Value(`{"x":1}`)}
		echo, answer := next(t, w), next(t, w)
		if cmp.Diff(want, echo.Action) != "" || echo.Origin == nil || cmp.Diff(want, answer.Action) != "" || answer.Origin != nil {
			t.Errorf("echo %+v, answer %+v", echo, answer)
		}

		if err := c.Dispatch(t.Context(), o.Channel, canvas.CloseRequested{}); err != nil {
			t.Fatal(err)
		}
		next(t, w) // its echo
		if closed, ok := next(t, w).Action.(session.OpenCanvasesChanged); !ok || len(closed.OpenCanvases) != 0 {
			t.Errorf("catalog %+v", closed)
		}
		_, err := c.Subscribe(t.Context(), o.Channel)
		wantErr(t, err, ahp.ErrNotFound)
	})
}

func TestReadResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, channels.Options{})
		o := h.open("n1")
		c := h.dial(t, client.Options{Subscriptions: []string{o.Channel}})
		page, err := c.ReadResource(t.Context(), o.Channel, canvas.ContentURL("n1", "/"))
		if err != nil || string(page.Data) != "<p>a note" || page.ETag == "" || page.URI == "" {
			t.Errorf("%+v, %v", page, err)
		}
		dot, err := c.ReadResource(t.Context(), o.Channel, canvas.ContentURL("n1", "/dot.png"))
		if err != nil || string(dot.Data) != "\x89\xff\x00" || dot.ContentType != "image/png" {
			t.Errorf("%+v, %v", dot, err)
		}
		for _, uri := range []string{canvas.ContentURL("n1", "/none"), canvas.ContentURL("n2", "/"), "file:///etc/passwd"} {
			_, err = c.ReadResource(t.Context(), o.Channel, uri)
			wantErr(t, err, ahp.ErrNotFound)
		}
	})
}
