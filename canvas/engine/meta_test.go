package engine_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// TestMeta: the state's _meta describes the provider's first answer, and stays the
// same after a reopen with another input and after a restart.
func TestMeta(t *testing.T) {
	for _, tt := range []struct {
		http, sockets, links bool
		want                 string
	}{
		{false, false, false, ""},
		{true, false, false, `{"x-ahp-canvas/http":1}`},
		{false, false, true, `{"x-ahp-canvas/links":1}`},
		{true, false, true, `{"x-ahp-canvas/http":1,"x-ahp-canvas/links":1}`},
		{true, true, true, `{"x-ahp-canvas/http":1,"x-ahp-canvas/ws":1,"x-ahp-canvas/links":1}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &lives{t: t}
			h, f := l.next(), &fake{}
			registerFake(h, f)
			f.open = func(context.Context, canvas.OpenRequest, *canvas.Handle) (canvas.Opened, error) {
				return canvas.Opened{HTTP: tt.http, Sockets: tt.sockets, Links: tt.links}, nil
			}
			o, err := open(h, "one", `{"n":1}`)
			ok(t, err)
			equal(t, tt.want, string(h.State(o.Channel).Meta))
			_, err = open(h, "one", `{"n":2}`) // writes the record again
			ok(t, err)
			equal(t, tt.want, string(h.State(o.Channel).Meta))
			equal(t, tt.want, string(l.next().State(o.Channel).Meta))
		})
	}
}

// TestAllowedMeta: the state names the label of the origins that the operator allows the
// canvas, also after a restart with another list. A client's canvas of that name has none.
func TestAllowedMeta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		for _, origins := range [][]string{{"https://one.example"}, {"https://one.example", "https://two.example"}, nil} {
			lists, err := allow.New(map[string][]string{"fake": origins})
			ok(t, err)
			l.allowed = lists
			h, f := l.next(), &fake{}
			registerFake(h, f)
			want := ""
			if origins != nil {
				want = `{"x-ahp-canvas/net":"` + lists.For("fake", "").Label() + `"}`
			}
			o, err := open(h, "one", `{"n":1}`)
			ok(t, err)
			equal(t, want, string(h.State(o.Channel).Meta))
		}
	})
}

// TestAllowedMetaOfClients: a client's canvas has no list, whatever name it declares.
func TestAllowedMetaOfClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists, err := allow.New(map[string][]string{"editor": {"https://one.example"}, "client:c1": {"https://one.example"}})
		ok(t, err)
		c := &clients{plain: "plain"}
		h := canvastest.New(t, engine.Options{Caller: c, Allowed: lists})
		join(t, h, "c1", editor)
		o := h.Open("editor", "one", nil)
		st := h.State(o.Channel)
		equal(t, "", string(st.Meta))
		equal(t, 0, len(h.Canvases.Allowed(st).Origins))
	})
}
