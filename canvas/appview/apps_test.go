package appview_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/appview"
	"github.com/ahp-canvas/ahp-canvas/canvas/attach"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// provider is a canvas that remembers what Views say.
type provider struct {
	handle *canvas.Handle
	opened canvas.Opened

	mu       sync.Mutex // instances share the provider
	received []string
}

func (p *provider) note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received = append(p.received, line)
}

// took returns what was received since the last took.
func (p *provider) took() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.received
	p.received = nil
	return strings.Join(lines, ";")
}

func (p *provider) Open(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	p.handle = h
	o := p.opened
	if o.URL == "" {
		o.URL = canvas.ContentURL(req.InstanceID, "/")
	}
	o.Instance, o.Title = p, "First"
	return o, nil
}

func (p *provider) Invoke(context.Context, string, ahp.Value) (ahp.Value, error) { return nil, nil }
func (p *provider) Close(context.Context) error                                  { return nil }

func (p *provider) Message(_ context.Context, from canvas.View, payload ahp.Value) {
	p.note(from.ClientID + " " + from.Role + " " + string(payload))
}

func (p *provider) ViewGone(from canvas.View) { p.note(from.ClientID + " gone") }

func (p *provider) Read(context.Context, canvas.ReadRequest) (canvas.Content, error) {
	return canvas.Content{Data: []byte("<p>Hello"), ContentType: "text/html"}, nil
}

// bench is a canvas with Views of chats.
type bench struct {
	*testing.T
	host *canvastest.Host
	p    *provider
	apps *appview.Apps
	open canvas.OpenCanvas
	doc  string // the document

	raised, size int // events, and the bytes of each
}

// events returns the events after a cursor.
func (b *bench) events(_ string, after int64) (all []canvas.Event, next int64) {
	for n := after + 1; after >= 0 && n <= int64(b.raised); n++ {
		all = append(all, canvas.Event{Cursor: n, Event: ahp.MustMarshal(strings.Repeat("e", b.size))})
	}
	return all, int64(b.raised)
}

// view names the nth View.
func view(n int) string { return fmt.Sprintf("%032x", n) }

// run runs a test with a canvas in a bubble of fake time.
func run(t *testing.T, opened canvas.Opened, test func(b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, host: canvastest.New(t, engine.Options{}), p: &provider{opened: opened}, doc: "<p>Hello"}
		b.host.Register(canvas.Extension{ID: "test"}, b.p, canvas.Declaration{CanvasID: "one", DisplayName: "One", Description: "One."})
		b.open = b.host.Open("one", "i", nil)
		at := attach.Host{Log: b.host.Log, Content: b.host.Canvases.Content}
		b.apps = appview.New(appview.Options{
			Key:    []byte("key"),
			Attach: func(a attach.Args) (*attach.View, error) { return attach.Attach(at, a) },
			Document: func(ctx context.Context, read appview.ReadFunc, at, _ string) (string, error) {
				if _, err := read(ctx, at); err != nil {
					return "", err
				}
				if b.doc == "" {
					return "", errors.New("it is not an HTML page")
				}
				return b.doc, nil
			},
			Link:   func(channel string) string { return "https://page.example/" + channel },
			Events: b.events,
		})
		defer b.apps.Close()
		test(b)
	})
}

func (b *bench) readArgs(n int) appview.ReadArgs {
	return appview.ReadArgs{Channel: b.open.Channel, Ticket: b.apps.Ticket(b.open.Channel), View: view(n)}
}

func (b *bench) read(n int) appview.ReadAnswer {
	b.Helper()
	r, err := b.apps.Read(b.Context(), b.readArgs(n))
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (b *bench) syncArgs(n int, after int64) appview.SyncArgs {
	return appview.SyncArgs{Channel: b.open.Channel, Ticket: b.apps.Ticket(b.open.Channel), View: view(n), After: after}
}

func (b *bench) sync(args appview.SyncArgs) appview.SyncAnswer {
	b.Helper()
	synctest.Wait()
	a, err := b.apps.Sync(b.Context(), args)
	if err != nil {
		b.Fatal(err)
	}
	synctest.Wait()
	return a
}

func (b *bench) post(payload string) {
	b.Helper()
	if err := b.p.handle.Post(b.Context(), ahp.Value(payload)); err != nil {
		b.Fatal(err)
	}
}

// briefly describes what a View received.
func briefly(a appview.SyncAnswer) string {
	var parts []string
	for _, m := range a.Messages {
		switch {
		case m.State != nil:
			parts = append(parts, m.State.Title+" "+m.State.Availability)
		case m.Reload:
			parts = append(parts, "reload")
		case m.Events != nil:
			parts = append(parts, fmt.Sprintf("%d events", len(m.Events)))
		default:
			parts = append(parts, string(m.Payload))
		}
	}
	for _, e := range a.Echoes {
		parts = append(parts, fmt.Sprint("echo ", e.Seq, " ", e.Reason))
	}
	if a.Lost {
		parts = append(parts, "lost")
	}
	if a.Gone {
		parts = append(parts, "gone")
	}
	return strings.Join(parts, "; ")
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func code(err error) string {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

// TestTicket: what a model reads opens nothing; a wrong ticket, a closed canvas and an absent
// one have one answer.
func TestTicket(t *testing.T) {
	run(t, canvas.Opened{}, func(b *bench) {
		good := b.apps.Ticket(b.open.Channel)
		other := b.host.Open("one", "other", nil)
		closed := b.host.Open("one", "closed", nil)
		ticketOfClosed := b.apps.Ticket(closed.Channel)
		if err := b.host.Canvases.Close(b.Context(), canvastest.Session, "closed"); err != nil {
			b.Fatal(err)
		}
		var answers []string
		for _, c := range []struct{ channel, ticket string }{
			{b.open.Channel, ""}, {b.open.Channel, "i"}, {b.open.Channel, b.open.Channel}, {b.open.Channel, good[:len(good)-1]}, {b.open.Channel, good + "A"},
			{b.open.Channel, b.apps.Ticket(other.Channel)}, {closed.Channel, ticketOfClosed}, {"ahp-canvas:/none", b.apps.Ticket("ahp-canvas:/none")},
			{canvastest.Session, b.apps.Ticket(canvastest.Session)}, {"", b.apps.Ticket("")}, {"", ""},
		} {
			_, err := b.apps.Read(b.Context(), appview.ReadArgs{Channel: c.channel, Ticket: c.ticket, View: view(1)})
			answers = append(answers, fmt.Sprint(err))
		}
		for _, a := range answers {
			equal(b.T, a, answers[0])
		}
		equal(b.T, answers[0], "no such canvas is open ("+canvas.CodeInstanceNotFound+")")
		args := b.syncArgs(1, 0)
		args.Ticket, args.Say = b.apps.Ticket(other.Channel), []appview.Say{{Seq: 1, Payload: ahp.Value(`"as a person"`)}}
		if _, err := b.apps.Sync(b.Context(), args); fmt.Sprint(err) != answers[0] {
			b.Errorf("sync with another canvas's ticket: %v", err)
		}
		synctest.Wait()
		if got := b.p.took(); got != "" || b.apps.Views() > 0 {
			b.Errorf("the provider received %s; %d Views", got, b.apps.Views())
		}
		if again := appview.New(appview.Options{Key: []byte("key")}).Ticket(b.open.Channel); again != good {
			b.Error("a ticket does not outlive the process")
		}
		if foreign := appview.New(appview.Options{}).Ticket(b.open.Channel); foreign == good || len(foreign) != 22 {
			b.Errorf("a ticket of another key: %q", foreign)
		}
		for _, id := range []string{"", "1", strings.Repeat("A", 32), strings.Repeat("a", 33), view(1) + "\n"} {
			args := b.readArgs(1)
			args.View = id
			if _, err := b.apps.Read(b.Context(), args); code(err) != canvas.CodeInputInvalid {
				b.Errorf("view %q: %v", id, err)
			}
		}
	})
}

// TestDown: messages are numbered and kept until they are confirmed: a lost answer loses
// nothing, and none is delivered twice.
func TestDown(t *testing.T) {
	run(t, canvas.Opened{}, func(b *bench) {
		b.read(1)
		for i := range 3 {
			b.post(fmt.Sprint(i))
		}
		a := b.sync(b.syncArgs(1, 0))
		equal(b.T, briefly(a), "0; 1; 2")
		again := b.sync(b.syncArgs(1, 0)) // the answer was lost
		equal(b.T, briefly(again), "0; 1; 2")
		b.post("3")
		if err := b.p.handle.SetTitle(b.Context(), "Second"); err != nil {
			b.Fatal(err)
		}
		a = b.sync(b.syncArgs(1, a.Next-1))
		equal(b.T, briefly(a), "2; 3; Second ready")
		equal(b.T, briefly(b.sync(b.syncArgs(1, a.Next))), "")
		if err := b.p.handle.Update(b.Context(), canvas.Update{URL: ahp.Set(canvas.ContentURL("i", "/two.html"))}); err != nil {
			b.Fatal(err)
		}
		equal(b.T, briefly(b.sync(b.syncArgs(1, a.Next))), "reload; Second ready")
	})
}

// TestUp: messages of a shell reach the provider once and in order, however often a call is
// repeated.
func TestUp(t *testing.T) {
	run(t, canvas.Opened{}, func(b *bench) {
		b.read(1)
		args := b.syncArgs(1, 0)
		args.Say = []appview.Say{{1, ahp.Value(`"a"`)}, {2, ahp.Value(`{"x-ahp":"http/1","id":1}`)}, {3, ahp.Value(`{"x-ahp":"view/1","type":"hello"}`)}, {4, ahp.Value(`"b"`)}}
		want := "echo 1 ; echo 2 a chat carries messages of view/1 only; echo 3 ; echo 4 "
		for range 50 {
			equal(b.T, briefly(b.sync(args)), want)
		}
		who := "chat:" + view(1) + " view "
		equal(b.T, b.p.took(), who+`"a";`+who+`{"x-ahp":"view/1","type":"hello"};`+who+`"b"`)
		args.Say = []appview.Say{{5, ahp.MustMarshal(strings.Repeat("x", 64<<10))}}
		if a := b.sync(args); !strings.Contains(a.Echoes[0].Reason, "65536") {
			b.Errorf("a message that is too long: %v", a.Echoes)
		}
		args.Say = make([]appview.Say, appview.MaxSay+1)
		if _, err := b.apps.Sync(b.Context(), args); code(err) != canvas.CodeInputInvalid {
			b.Errorf("too many messages in a call: %v", err)
		}
		for _, say := range []appview.Say{{Seq: 0, Payload: ahp.Value("1")}, {Seq: 6}} {
			args.Say = []appview.Say{say}
			if _, err := b.apps.Sync(b.Context(), args); code(err) != canvas.CodeInputInvalid {
				b.Errorf("an invalid message: %v", err)
			}
		}
		args.Say = nil
		args.After = -1
		if _, err := b.apps.Sync(b.Context(), args); code(err) != canvas.CodeInputInvalid {
			b.Errorf("after -1: %v", err)
		}
	})
}

// TestRate: a View that floods is slowed down.
func TestRate(t *testing.T) {
	run(t, canvas.Opened{}, func(b *bench) {
		b.read(1)
		flood := func(from, n int64) (refused int) {
			for seq := from; seq < from+n; seq++ {
				args := b.syncArgs(1, 0)
				args.Say = []appview.Say{{seq, ahp.Value("1")}}
				if b.sync(args).Echoes[0].Reason != "" {
					refused++
				}
			}
			return refused
		}
		if n := flood(1, 300); n != 100 {
			b.Errorf("of 300 messages at once %d were refused, want 100", n)
		}
		time.Sleep(time.Second)
		if n := flood(301, 150); n != 50 {
			b.Errorf("of 150 messages a second later %d were refused, want 50", n)
		}
	})
}

// TestWait: a call waits for a message, and at most 20 s; a second one that waits ends it.
func TestWait(t *testing.T) {
	run(t, canvas.Opened{}, func(b *bench) {
		b.read(1)
		args := b.syncArgs(1, 0)
		args.Wait = 1000
		begun := time.Now()
		time.AfterFunc(3*time.Second, func() { b.post("1") })
		a := b.sync(args)
		equal(b.T, briefly(a), "1")
		equal(b.T, time.Since(begun).String(), "3s")
		args.After = a.Next
		begun = time.Now()
		equal(b.T, briefly(b.sync(args)), "")
		equal(b.T, time.Since(begun).String(), "20s")

		ended := make(chan time.Duration, 1)
		begun = time.Now()
		go func() {
			_, _ = b.apps.Sync(b.Context(), args)
			ended <- time.Since(begun)
		}()
		time.Sleep(time.Second)
		say := args
		say.Wait, say.Say = 0, []appview.Say{{1, ahp.Value(`"beside"`)}}
		equal(b.T, briefly(b.sync(say)), "echo 1 ")
		time.Sleep(time.Second)
		b.sync(args)
		equal(b.T, (<-ended).String(), "2s")
	})
}

// TestLease: a View ends 60 s after its last call, with its bye, and with its canvas.
func TestLease(t *testing.T) {
	run(t, canvas.Opened{}, func(b *bench) {
		b.read(1)
		b.read(2)
		hello := appview.Say{Seq: 1, Payload: ahp.Value(`{"x-ahp":"view/1","type":"hello"}`)}
		for n := 1; n <= 2; n++ {
			args := b.syncArgs(n, 0)
			args.Say = []appview.Say{hello}
			b.sync(args)
		}
		time.Sleep(appview.Lease - time.Second)
		b.sync(b.syncArgs(1, 0))
		b.p.took()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		equal(b.T, b.p.took(), "chat:"+view(2)+" gone")
		if _, err := b.apps.Sync(b.Context(), b.syncArgs(2, 0)); code(err) != appview.CodeViewLost {
			b.Errorf("a View whose lease has ended: %v", err)
		}
		bye := b.syncArgs(1, 0)
		bye.Bye, bye.Say = true, []appview.Say{{2, ahp.Value(`"last"`)}}
		equal(b.T, briefly(b.sync(bye)), "echo 2 ")
		equal(b.T, b.p.took(), "chat:"+view(1)+` view "last";chat:`+view(1)+" gone")
		if _, err := b.apps.Sync(b.Context(), b.syncArgs(1, 0)); code(err) != appview.CodeViewLost {
			b.Errorf("a View that said bye: %v", err)
		}

		b.read(3)
		waits := make(chan string, 1)
		go func() {
			args := b.syncArgs(3, 0)
			args.Wait = 20
			a, err := b.apps.Sync(b.Context(), args)
			waits <- fmt.Sprint(briefly(a), err)
		}()
		synctest.Wait()
		if err := b.host.Canvases.Close(b.Context(), canvastest.Session, "i"); err != nil {
			b.Fatal(err)
		}
		equal(b.T, <-waits, "gone<nil>")
		if _, err := b.apps.Read(b.Context(), b.readArgs(4)); code(err) != canvas.CodeInstanceNotFound {
			b.Errorf("a closed canvas: %v", err)
		}
	})
}

// TestMany: Views are limited by canvas and by host, and those that no chat ends are gone after
// the lease.
func TestMany(t *testing.T) {
	run(t, canvas.Opened{}, func(b *bench) {
		channels := []string{b.open.Channel}
		for i := range 9 {
			channels = append(channels, b.host.Open("one", fmt.Sprint("more", i), nil).Channel)
		}
		limited := 0
		for i := range 330 {
			ch := channels[i%10]
			_, err := b.apps.Read(b.Context(), appview.ReadArgs{Channel: ch, Ticket: b.apps.Ticket(ch), View: view(i)})
			switch {
			case err == nil:
			case code(err) == canvas.CodeLimitExceeded:
				limited++
			default:
				b.Fatal(err)
			}
		}
		if n := b.apps.Views(); n != appview.MaxViews || limited != 330-appview.MaxViews {
			b.Errorf("%d Views live, %d were refused", n, limited)
		}
		time.Sleep(appview.Lease + time.Second)
		synctest.Wait()
		if n := b.apps.Views(); n != 0 {
			b.Errorf("%d Views live after the lease", n)
		}
		for i := range appview.MaxViewsOfCanvas + 1 {
			_, err := b.apps.Read(b.Context(), b.readArgs(i))
			if (err != nil) != (i == appview.MaxViewsOfCanvas) {
				b.Errorf("View %d of one canvas: %v", i, err)
			}
		}
	})
}

// TestLost: a View that misses too many messages learns it, and has the state.
func TestLost(t *testing.T) {
	run(t, canvas.Opened{}, func(b *bench) {
		b.read(1)
		big := string(ahp.MustMarshal(strings.Repeat("x", 60<<10)))
		for range 20 {
			b.post(big)
		}
		a := b.sync(b.syncArgs(1, 0))
		equal(b.T, briefly(a), "First ready; lost")
		b.post("1")
		equal(b.T, briefly(b.sync(b.syncArgs(1, a.Next))), "1")
		// Kept for a shell that confirms nothing.
		for range 12 {
			b.post(big)
		}
		if a = b.sync(b.syncArgs(1, 0)); a.Lost {
			b.Error("lost within the limit")
		}
		for range 12 {
			b.post(big)
		}
		if a = b.sync(b.syncArgs(1, 0)); !a.Lost {
			b.Errorf("kept beyond the limit: %d messages", len(a.Messages))
		}
		// A shell that confirms loses nothing.
		for range 4 {
			for range 12 {
				b.post(big)
			}
			if a = b.sync(b.syncArgs(1, a.Next)); a.Lost || len(a.Messages) != 12 {
				b.Errorf("%d messages, lost: %v", len(a.Messages), a.Lost)
			}
		}
	})
}

// TestRead: a document comes in parts that cut no character, once while it stays the same.
func TestRead(t *testing.T) {
	run(t, canvas.Opened{}, func(b *bench) {
		b.doc = strings.Repeat("aä€𝄞", 100_000)
		args := b.readArgs(1)
		var text strings.Builder
		parts := 1
		tag := ""
		for ; args.Part < parts; args.Part++ {
			r, err := b.apps.Read(b.Context(), args)
			if err != nil || r.Kind != appview.KindDocument || len(r.Text) > appview.PartBytes || !utf8.ValidString(r.Text) {
				b.Fatalf("part %d: %+v, %v", args.Part, r.Kind, err)
			}
			parts, tag = r.Parts, r.Tag
			text.WriteString(r.Text)
			b.doc += "!" // the parts are of one document
		}
		if text.String() != strings.TrimRight(b.doc, "!") || parts != 4 {
			b.Errorf("%d bytes in %d parts", text.Len(), parts)
		}
		b.doc = strings.TrimRight(b.doc, "!")
		args.Part, args.Tag = 0, tag
		if r, err := b.apps.Read(b.Context(), args); err != nil || r.Kind != appview.KindSame || r.Text != "" || r.Tag != tag {
			b.Errorf("read again: %+v, %v", r.Kind, err)
		}
		args.Part = 99
		if r, err := b.apps.Read(b.Context(), args); err != nil || r.Kind != appview.KindWords {
			b.Errorf("part 99: %+v, %v", r.Kind, err)
		}
		args.Part, args.Tag, args.Link = 0, "", true
		if r, err := b.apps.Read(b.Context(), args); err != nil || r.Link != "https://page.example/"+b.open.Channel || r.Text != "" {
			b.Errorf("a link: %+v, %v", r, err)
		}
		b.doc = ""
		equal(b.T, b.read(1).Words, "This canvas cannot be shown in a chat: it is not an HTML page.")
	})
}

// TestWords: what a chat cannot show is words, and a link is only where it was asked for.
func TestWords(t *testing.T) {
	for want, opened := range map[string]canvas.Opened{
		"This canvas is a web app. A chat cannot run it; its page can.": {HTTP: true},
		"This canvas is at an address of its own.":                      {URL: "http://127.0.0.1:1/"},
	} {
		run(t, opened, func(b *bench) {
			r := b.read(1)
			equal(b.T, r.Kind+" "+r.Words, "words "+want)
			equal(b.T, r.Title+r.Link, "First")
		})
	}
	none := appview.New(appview.Options{Attach: func(attach.Args) (*attach.View, error) {
		return nil, canvas.Errorf(canvas.CodeInstanceNotFound, "none")
	}})
	if _, err := none.Read(t.Context(), appview.ReadArgs{Channel: "c", Ticket: none.Ticket("c"), View: view(1)}); code(err) != canvas.CodeInstanceNotFound {
		t.Errorf("%v", err)
	}
}

// TestEvents: what the canvas raised since the View attached goes to the model of its chat:
// the newest 20 events, in at most 8 KiB.
func TestEvents(t *testing.T) {
	run(t, canvas.Opened{}, func(b *bench) {
		b.raised = 3 // before the View
		b.read(1)
		after := int64(0)
		for _, c := range []struct {
			more, size int // events, and bytes of each
			want       string
		}{{2, 1, "4..5"}, {0, 1, ""}, {30, 1, "16..35"}, {5, 3 << 10, "39..40"}, {1, 9 << 10, ""}} {
			b.raised += c.more
			b.size = c.size
			a := b.sync(b.syncArgs(1, after))
			after = a.Next
			got := ""
			for _, m := range a.Messages {
				got = fmt.Sprintf("%d..%d", m.Events[0].Cursor, m.Events[len(m.Events)-1].Cursor)
			}
			equal(b.T, got, c.want)
		}
	})
}
