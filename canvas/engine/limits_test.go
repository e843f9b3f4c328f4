package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Values that are too deep or too large for a frame are rejected in inputs and in
// providers' messages too, because both reach clients.
func TestShapeIsBounded(t *testing.T) {
	deep := `{"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`
	wide := `{"x":[` + strings.Repeat("1,", 16383) + `1]}`
	for name, v := range map[string]string{"deep": deep, "wide": wide} {
		t.Run(name, func(t *testing.T) {
			h, f, _ := newFake(t, engine.Options{})
			_, err := open(h, "one", "")
			ok(t, err)
			_, err = invoke(h, "one", "go", v)
			e := wantCode(t, err, canvas.CodeInputInvalid)
			equal(t, "/input limit", e.Path+" "+e.Rule)
			f.invoke = func(_ context.Context, hd *canvas.Handle, _ string, _ ahp.Value) (ahp.Value, error) {
				if hd.Post(t.Context(), ahp.Value(v)) == nil || hd.Raise(ahp.Value(v)) == nil {
					t.Error("a provider sent more than a client can read")
				}
				return ahp.Value(v), nil
			}
			_, err = invoke(h, "one", "go", "")
			wantCode(t, err, canvas.CodeLimitExceeded)
			f.invoke = nil
			_, err = invoke(h, "one", "go", `{"x":[[1,2,3]]}`)
			ok(t, err)
		})
	}
}

// TestDefaults: the numbers of canvas/PROTOCOL.md sections 3, 4, 7 and 8, and the
// defaults in the comments of the fields.
func TestDefaults(t *testing.T) {
	limits, times := engine.Defaults()
	equal(t, canvas.Limits{
		Canvases: 64, Actions: 64, SchemaBytes: 64 << 10, SchemaDepth: 32,
		SessionInstances: 256, Instances: 4096, Waiting: 64, Depth: 64, Values: 16384,
		InputBytes: 256 << 10, AnswerBytes: 64 << 10, TextLength: 512, MessageBytes: 64 << 10, MailboxBytes: 1 << 20,
		SaveBytes: 256 << 10, RecordBytes: 1 << 20, RecordsBytes: 64 << 20, TitleRate: 20, ContentBytes: 16 << 20, CacheBytes: 64 << 20, Events: 1024, EventBytes: 1 << 20,
	}, limits)
	equal(t, canvas.Timeouts{Open: 30 * time.Second, Invoke: 30 * time.Second, Close: 5 * time.Second, Read: 30 * time.Second}, times)
}

// TestSizesAreExact: each size of canvas/PROTOCOL.md section 8, with a value at the
// limit and one above it. Without a code, any error is accepted.
func TestSizesAreExact(t *testing.T) {
	h, f, reg := newFake(t, engine.Options{})
	o, err := open(h, "one", "")
	ok(t, err)
	hd, v := f.latest().h, h.Connect("v")
	v.Subscribe(o.Channel)
	text := func(n int) ahp.Value { return ahp.Value(`"` + strings.Repeat("x", n-2) + `"`) }
	input := func(n int) string { return `{"x":"` + strings.Repeat("x", n-8) + `"}` }
	deep := func(n int) string { return `{"x":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
	wide := func(n int) string { return `{"x":[` + strings.Repeat("1,", n-3) + `1]}` }
	schema := func(raw string) error {
		return reg.Set(fakeDeclaration, canvas.Declaration{CanvasID: "more", DisplayName: "x", InputSchema: ahp.Value(raw)})
	}
	run := func(input string, answer ahp.Value) error {
		f.invoke = func(context.Context, *canvas.Handle, string, ahp.Value) (ahp.Value, error) { return answer, nil }
		_, err := invoke(h, "one", "go", input)
		return err
	}
	for name, tc := range map[string]struct {
		most int
		code string
		try  func(n int) error
	}{
		"bytes of a schema": {64 << 10, canvas.CodeInputInvalid, func(n int) error { return schema(`{"title":` + string(text(n-10)) + `}`) }},
		"name of a canvas": {512, canvas.CodeInputInvalid, func(n int) error {
			return reg.Set(fakeDeclaration, canvas.Declaration{CanvasID: "more", DisplayName: strings.Repeat("ä", n)})
		}},
		"name of a client": {512, canvas.CodeInputInvalid, func(n int) error {
			name := strings.Repeat("ä", n)
			return h.Canvases.Clients.Vet(session.SessionActiveClient{ClientID: "c", DisplayName: &name, CanvasProviders: []canvas.Declaration{fakeDeclaration}})
		}},
		"actions":            {64, canvas.CodeLimitExceeded, func(n int) error { return reg.Set(fakeDeclaration, withActions(n)) }},
		"instance id":        {128, canvas.CodeInputInvalid, func(n int) error { _, err := open(h, strings.Repeat("x", n), ""); return err }},
		"input of an open":   {256 << 10, canvas.CodeInputInvalid, func(n int) error { _, err := open(h, "one", input(n)); return err }},
		"input of an action": {256 << 10, canvas.CodeInputInvalid, func(n int) error { return run(input(n), nil) }},
		"depth of an input":  {64, canvas.CodeInputInvalid, func(n int) error { return run(deep(n), nil) }},
		"values of an input": {16384, canvas.CodeInputInvalid, func(n int) error { return run(wide(n), nil) }},
		"answer":             {64 << 10, canvas.CodeLimitExceeded, func(n int) error { return run("", text(n)) }},
		"message":            {64 << 10, "", func(n int) error { return hd.Post(t.Context(), text(n)) }},
		"event":              {64 << 10, "", func(n int) error { return hd.Raise(text(n)) }},
		"saved":              {256 << 10, "", func(n int) error { return hd.Save(t.Context(), make([]byte, n)) }},
		"content": {16 << 20, "", func(n int) error {
			f.read = func(context.Context, canvas.ReadRequest) (canvas.Content, error) {
				return canvas.Content{Data: make([]byte, n)}, nil
			}
			_, err := readResource(h, v, o.Channel, "ahp-canvas-content:/one/a", "")
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ok(t, tc.try(tc.most))
			err := tc.try(tc.most + 1)
			if tc.code != "" {
				wantCode(t, err, tc.code)
			} else if err == nil {
				t.Errorf("%d were taken", tc.most+1)
			}
		})
	}
}

func withActions(n int) canvas.Declaration {
	d := canvas.Declaration{CanvasID: "more", DisplayName: "x"}
	for i := range n {
		d.Actions = append(d.Actions, canvas.Action{Name: fmt.Sprint(i)})
	}
	return d
}

// TestEveryPlaceCanBeTaken: as many canvases open concurrently as the limit allows;
// none counts twice while it opens.
func TestEveryPlaceCanBeTaken(t *testing.T) {
	const places = 200
	h, _, _ := newFake(t, engine.Options{Limits: canvas.Limits{SessionInstances: places, Instances: places}})
	var wg sync.WaitGroup
	for n := range places {
		wg.Go(func() {
			if _, err := open(h, fmt.Sprint("i", n), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, err := open(h, "more", "")
	wantCode(t, err, canvas.CodeLimitExceeded)
}

// TestManyInstances: 256 in a session and 4,096 in a host (canvas/PROTOCOL.md
// section 8).
func TestManyInstances(t *testing.T) {
	h, _, _ := newFake(t, engine.Options{})
	const sessions, each = 16, 256
	openIn := func(n int) error {
		uri := fmt.Sprint("ahp-session:/", n)
		ok(t, h.Sessions.Ensure(uri, ""))
		_, err := h.Canvases.Open(t.Context(), canvas.OpenArgs{Session: uri, CanvasID: "fake"})
		return err
	}
	for n := range sessions {
		for range each {
			ok(t, openIn(n))
		}
		if n == 0 {
			e := wantCode(t, openIn(n), canvas.CodeLimitExceeded)
			equal(t, "256 canvases are open in this session, which is the limit: close one first", e.Message)
		}
	}
	e := wantCode(t, openIn(sessions), canvas.CodeLimitExceeded)
	equal(t, "4096 canvases are open in this host, which is the limit: close one first", e.Message)
}
