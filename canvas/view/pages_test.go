package view

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

// TestEarliest: an action goes to one View, the earliest that said hello.
func TestEarliest(t *testing.T) {
	bubble(t, canvas.Limits{}, func(b *bench) {
		idle, first, second := b.view("idle"), b.view("first"), b.view("second")
		b.says(first, `"type":"hello"`)
		b.says(second, `"type":"hello"`)
		b.says(first, `"type":"hello"`) // repeated: no effect
		if n := len(b.pages.views); n != 2 {
			t.Errorf("%d Views said hello, want 2", n)
		}
		got := b.invoke(`{"n":1}`)
		if diff := cmp.Diff([]string{`call-1 go {"n":1}`}, asked(first)); diff != "" {
			t.Error(diff)
		}
		if n := len(asked(second)) + len(asked(idle)); n != 0 {
			t.Errorf("%d others were asked", n)
		}
		b.says(first, `"type":"result","id":"call-1","value":[1.50]`)
		want(t, got, "[1.50]", "", "")
		b.says(first, `"type":"bye"`)
		got = b.invoke("")
		if diff := cmp.Diff([]string{"call-2 go"}, asked(second)); diff != "" {
			t.Error(diff)
		}
		b.says(second, `"type":"result","id":"call-2"`)
		want(t, got, "", "", "")
	})
}

// TestWaitsForAPage: an action without a View waits for one, and its error names the
// reason.
func TestWaitsForAPage(t *testing.T) {
	bubble(t, canvas.Limits{}, func(b *bench) {
		got := b.invoke("")
		time.Sleep(20 * time.Second)
		v := b.view("late")
		b.says(v, `"type":"hello"`)
		if diff := cmp.Diff([]string{"call-1 go"}, asked(v)); diff != "" {
			t.Error(diff)
		}
		b.says(v, `"type":"result","id":"call-1","value":"here"`)
		want(t, got, `"here"`, "", "")

		b.says(v, `"type":"bye"`)
		got = b.invoke("")
		time.Sleep(30 * time.Second)
		want(t, got, "", canvas.CodeTimeout, "no page has this canvas open")
		b.says(v, `"type":"hello"`)
		if lines := asked(v); len(lines) != 0 {
			t.Errorf("sent after its deadline: %v", lines)
		}
	})
}

// TestSilentPage: a View that does not answer is asked once, and the error says that a
// page has the canvas open.
func TestSilentPage(t *testing.T) {
	bubble(t, canvas.Limits{}, func(b *bench) {
		v := b.view("silent")
		b.says(v, `"type":"hello"`)
		got := b.invoke("")
		time.Sleep(30 * time.Second)
		want(t, got, "", canvas.CodeTimeout, "did not answer in time")
		b.says(v, `"type":"result","id":"call-1","value":1`) // late
		if n := len(b.pages.calls) + b.pages.pending; n != 0 {
			t.Errorf("%d calls are kept", n)
		}
		second := b.invoke("")
		b.says(v, `"type":"result","id":"call-1","value":"of the one before"`)
		b.says(v, `"type":"result","id":"call-2","value":"its own"`)
		want(t, second, `"its own"`, "", "")
	})
}

// TestPageGoesAway: when a View disconnects, its calls fail at once and are not sent
// again.
func TestPageGoesAway(t *testing.T) {
	for name, leave := range map[string]func(*bench, *canvastest.View){
		"bye":        func(b *bench, v *canvastest.View) { b.says(v, `"type":"bye"`) },
		"connection": func(_ *bench, v *canvastest.View) { v.Leave() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, canvas.Limits{}, func(b *bench) {
				first, second := b.view("first"), b.view("second")
				b.says(first, `"type":"hello"`)
				b.says(second, `"type":"hello"`)
				got := b.invoke("")
				leave(b, first)
				want(t, got, "", canvas.CodeProviderUnavailable, "was closed before it answered")
				if lines := asked(second); len(lines) != 0 {
					t.Errorf("it was sent again: %v", lines)
				}
			})
		})
	}
}

// TestAnswersThatDoNotCount: answers from another View, malformed answers and
// repeated answers are ignored.
func TestAnswersThatDoNotCount(t *testing.T) {
	bubble(t, canvas.Limits{}, func(b *bench) {
		v, other := b.view("asked"), b.view("other")
		b.says(v, `"type":"hello"`)
		b.says(other, `"type":"hello"`)
		got := b.invoke("")
		b.says(other, `"type":"result","id":"call-1","value":"foreign"`)
		b.says(other, `"type":"error","id":"call-1","error":{"code":"x","message":"foreign"}`)
		b.says(v, `"type":"result","id":"call-2","value":"another id"`)
		b.says(v, `"type":"result","id":1`)
		b.says(v, `"type":"result"`)
		b.says(v, `"type":"error","id":"call-1","error":"not an object"`)
		b.says(v, `"type":"nonsense","id":"call-1"`)
		b.says(v, `"kind":"result"`)
		select {
		case r := <-got:
			t.Fatalf("ended with %+v", r)
		default:
		}
		b.says(v, `"type":"result","id":"call-1","value":null`)
		b.says(v, `"type":"result","id":"call-1","value":"twice"`)
		want(t, got, "null", "", "")
	})
}

func TestPageErrors(t *testing.T) {
	long := strings.Repeat("ä", 3000)
	for _, c := range []struct{ said, code, text string }{
		{`{"code":"card_gone","message":"there is no such card"}`, "card_gone", "there is no such card"},
		{`{"code":"canvas_action_no_handler","message":"x"}`, canvas.CodeNoHandler, "x"},
		{`{"code":"no good","message":"x"}`, canvas.CodeHandlerError, "x"},
		{`{"code":"` + strings.Repeat("c", 129) + `","message":"x"}`, canvas.CodeHandlerError, "x"},
		{`{"code":"empty","message":""}`, "empty", "gave no reason"},
		{`{"code":"long","message":"` + long + `"}`, "long", strings.Repeat("ä", 2048) + "… "},
		{`null`, canvas.CodeHandlerError, "gave no reason"},
	} {
		bubble(t, canvas.Limits{}, func(b *bench) {
			v := b.view("v")
			b.says(v, `"type":"hello"`)
			got := b.invoke("")
			b.says(v, `"type":"error","id":"call-1","error":`+c.said)
			want(t, got, "", c.code, c.text)
		})
	}
}

// TestMessages: payloads that are not view/1 go to OnMessage.
func TestMessages(t *testing.T) {
	bubble(t, canvas.Limits{}, func(b *bench) {
		v := b.view("v")
		for _, p := range []string{`{"card":1}`, `"view/1"`, `{"x-ahp":"http/1"}`, `{"x-ahp":1}`, `[]`} {
			v.Say(b.channel, p)
			synctest.Wait()
			if got := <-b.said; got != "v "+p {
				t.Errorf("received %s, want %s", got, p)
			}
		}
		b.says(v, `"type":"hello"`)
		b.says(v, `"anything":"else"`)
		if len(b.said) != 0 {
			t.Errorf("a message of view/1 was passed on: %s", <-b.said)
		}
	})
}

func TestTooBig(t *testing.T) {
	bubble(t, canvas.Limits{}, func(b *bench) {
		v := b.view("v")
		b.says(v, `"type":"hello"`)
		want(t, b.invoke(`{"x":"`+strings.Repeat("x", 64<<10)+`"}`), "", canvas.CodeLimitExceeded, "cannot be sent to the page")
		if lines := asked(v); len(lines) != 0 || len(b.pages.calls) != 0 {
			t.Errorf("sent %v, kept %d", lines, len(b.pages.calls))
		}
	})
	bubble(t, canvas.Limits{MessageBytes: 1 << 20, AnswerBytes: 1 << 20}, func(b *bench) { // a host with a higher limit than a page
		v := b.view("v")
		b.says(v, `"type":"hello"`)
		got := b.invoke("")
		b.says(v, `"type":"result","id":"call-1","value":"`+strings.Repeat("x", 64<<10)+`"`)
		want(t, got, "", canvas.CodeLimitExceeded, "the action ran; its value was dropped: it has 65538 bytes, at most 65536 are allowed")
	})
}

// TestReloadAndClose: all pages receive a reload; Close fails waiting calls.
func TestReloadAndClose(t *testing.T) {
	bubble(t, canvas.Limits{}, func(b *bench) {
		v := b.view("never said hello")
		if err := b.pages.Reload(); err != nil {
			t.Fatal(err)
		}
		v.Await("a reload", func(e ahp.ActionEnvelope) bool {
			return ahp.Equal(e.Action, ahp.Value(`{"type":"canvas/message","payload":{"x-ahp":"view/1","type":"reload"}}`))
		})
	})
	bubble(t, canvas.Limits{}, func(b *bench) {
		waits := make(chan error, 2)
		call := func() { _, err := b.pages.Invoke(b.t.Context(), "go", nil); waits <- err }
		go call()
		synctest.Wait()
		v := b.view("v")
		b.says(v, `"type":"hello"`)
		go call()
		synctest.Wait()
		for range 2 { // a second Close is harmless
			if err := b.pages.Close(b.t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := <-waits; !errors.Is(err, errClosed) {
				t.Errorf("ended with %v", err)
			}
		}
		b.says(v, `"type":"hello"`)
		if _, err := b.pages.Invoke(b.t.Context(), "go", nil); !errors.Is(err, errClosed) {
			t.Errorf("after the close: %v", err)
		}
	})
}

// TestReloadNamed: only the named Views reload their page.
func TestReloadNamed(t *testing.T) {
	bubble(t, canvas.Limits{}, func(b *bench) {
		first, second, third := b.view("first"), b.view("second"), b.view("third")
		for _, v := range []*canvastest.View{first, second, third} {
			b.says(v, `"type":"hello"`)
		}
		b.pages.mu.Lock()
		views := slices.Clone(b.pages.views)
		b.pages.mu.Unlock()
		if err := b.pages.Reload(views[0], views[2]); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, c := range []struct {
			view *canvastest.View
			name string
			want int
		}{{first, "first", 1}, {second, "second", 0}, {third, "third", 1}} {
			if got := reloads(c.view); got != c.want {
				t.Errorf("%s received %d reloads, want %d", c.name, got, c.want)
			}
		}
		first.Leave()
		if err := b.pages.Reload(views[0]); err != nil {
			t.Errorf("reload of a View that disconnected: %v", err)
		}
		if err := b.pages.Reload(canvas.View{}, views[1]); err == nil || reloads(second) != 1 {
			t.Errorf("reload of the zero View: %v; the valid one must still receive it", err)
		}
	})
}

// reloads counts the reload messages that a View received since the last call.
func reloads(v *canvastest.View) int {
	synctest.Wait()
	n := 0
	for _, e := range v.Take() {
		var a struct {
			Payload toPage `json:"payload"`
		}
		if ahp.Unmarshal(e.Action, &a) == nil && a.Payload.Type == "reload" {
			n++
		}
	}
	return n
}

// TestLimits: at most 64 calls; a canceled call frees its place and returns its own
// error.
func TestLimits(t *testing.T) {
	bubble(t, canvas.Limits{}, func(b *bench) {
		ctx, cancel := context.WithCancel(b.t.Context())
		ended := make(chan error, maxCalls)
		for range maxCalls {
			go func() { _, err := b.pages.Invoke(ctx, "go", nil); ended <- err }()
		}
		synctest.Wait()
		if _, err := b.pages.Invoke(b.t.Context(), "go", nil); !errors.Is(err, errTooMany) {
			t.Errorf("one more: %v", err)
		}
		cancel()
		for range maxCalls {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
		}
		short, stop := context.WithTimeout(b.t.Context(), time.Second)
		defer stop()
		begun := time.Now()
		if _, err := b.pages.Invoke(short, "go", nil); !errors.Is(err, ErrNoView) || time.Since(begun) != 950*time.Millisecond {
			t.Errorf("after the canceled calls: %v after %v", err, time.Since(begun))
		}
	})
}

// TestReadOnlyView: a View that cannot answer is not asked, although it said hello first.
func TestReadOnlyView(t *testing.T) {
	p := New(Options{})
	p.Message(t.Context(), canvas.View{Conn: 1, Role: "read"}, ahp.Value(`{"x-ahp":"view/1","type":"hello"}`))
	p.Message(t.Context(), canvas.View{Conn: 2, Role: "view"}, ahp.Value(`{"x-ahp":"view/1","type":"hello"}`))
	if len(p.views) != 1 || p.views[0].Conn != 2 {
		t.Errorf("asked: %+v", p.views)
	}
}
