package sample_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// clientSide is the backend of a provider in a client: it can update and post to
// all Views, and nothing else.
type clientSide struct {
	ctx     context.Context
	posted  []string
	updates int
}

func (c *clientSide) Context() context.Context { return c.ctx }

func (c *clientSide) Update(context.Context, canvas.Update) error {
	c.updates++
	return nil
}

func (c *clientSide) Post(_ context.Context, p canvas.Post) error {
	if p.To != (canvas.View{}) {
		return canvas.ErrUnsupported
	}
	c.posted = append(c.posted, string(p.Payload))
	return nil
}

func (c *clientSide) take() (posted []string) {
	posted, c.posted = c.posted, nil
	return posted
}

// TestInAClient: a canvas works on a side that cannot save, raise events or address
// one View.
func TestInAClient(t *testing.T) {
	side := &clientSide{ctx: t.Context()}
	h := canvas.MakeHandle(side, "ahp-session:/s", "c")
	request := canvas.OpenRequest{InstanceID: "c", Input: ahp.Value(`{"by":1}`)}
	opened, err := newCounter().Open(t.Context(), request, &h)
	if err != nil {
		t.Fatal(err)
	}
	if got := side.take(); got != nil || opened.Title != "Counter" || opened.Status != `{"n":10}` {
		t.Errorf("posted %q; opened as %+v", got, opened)
	}
	i := opened.Instance.(interface {
		canvas.Instance
		canvas.Messenger
	})
	page, addressed := canvas.View{ClientID: "page"}, canvas.View{ClientID: "page", Conn: 7}
	for _, step := range []struct {
		from canvas.View
		say  string
		want []string
	}{
		{page, `{"sample":"hello"}`, []string{`{"sample":"state","revision":1,"state":{"n":10}}`}},
		{addressed, `{"sample":"hello"}`, []string{`{"sample":"state","revision":1,"state":{"n":10}}`}},
		{page, `{"sample":"do","ref":"a-1","action":"add","input":{"by":-1}}`,
			[]string{`{"sample":"refused","ref":"a-1","code":"counter_invalid","message":"only up"}`, `{"sample":"state","revision":1,"state":{"n":10}}`}},
		{page, `{"sample":"do","ref":"a-2","action":"add","input":{"by":4}}`,
			[]string{`{"sample":"state","revision":2,"state":{"n":14}}`, `{"sample":"done","ref":"a-2","value":14}`}},
	} {
		i.Message(t.Context(), step.from, ahp.Value(step.say))
		if diff := cmp.Diff(step.want, side.take()); diff != "" {
			t.Errorf("%+v says %s (-want +got)\n%s", step.from, step.say, diff)
		}
	}
	if v, err := i.Invoke(t.Context(), "read", nil); err != nil || string(v) != `{"n":14}` {
		t.Errorf("the agent reads %s, %v", v, err)
	}
	request.Current, request.Input = opened.Instance, ahp.Value(`{"by":3}`)
	if _, err := newCounter().Open(t.Context(), request, &h); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"sample":"state","revision":3,"state":{"n":44}}`}, side.take()); diff != "" {
		t.Errorf("opened with another input (-want +got)\n%s", diff)
	}
	if side.updates != 2 {
		t.Errorf("%d updates, want one per change of the open canvas", side.updates)
	}
}
