package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/google/go-cmp/cmp"
)

// inbox is a sink that records frames.
type inbox struct{ frames []string }

func (b *inbox) Deliver(f *channels.Frame) { b.frames = append(b.frames, string(f.Bytes())) }

func (b *inbox) DeliverAll(all *channels.Batch) { all.Each(b.Deliver) }

func (b *inbox) take() string {
	all := strings.Join(b.frames, "\n")
	b.frames = nil
	return all
}

// bench is a service with its own log, and a clock that the test sets.
type bench struct {
	t   *testing.T
	log *channels.Log
	svc *session.Service
	now time.Time
}

func newBench(t *testing.T, opts session.Options) *bench {
	b := &bench{t: t, log: channels.New(channels.Options{}), now: time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)}
	opts.Log, opts.Now = b.log, func() time.Time { return b.now }
	b.svc = session.New(opts)
	return b
}

func (b *bench) connect(id channels.ConnID, client string, uris ...string) (*channels.Subscriber, *inbox) {
	b.t.Helper()
	box := &inbox{}
	s := &channels.Subscriber{ID: id, ClientID: client, Version: ahp.V0_5_1, Sink: box}
	err := b.log.Update(func(tx *channels.Tx) error {
		for _, uri := range uris {
			if _, err := tx.Subscribe(s, uri); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return s, box
}

func (b *bench) create(from *channels.Subscriber, p session.CreateSessionParams) error {
	_, err := b.svc.CreateSession(b.t.Context(), from, p)
	return err
}

func (b *bench) send(from *channels.Subscriber, uri, action string) {
	b.log.Dispatch(from, ahp.DispatchActionParams{Channel: uri, ClientSeq: 1, Action: ahp.Value(action)})
}

func TestCreateIsOneTransaction(t *testing.T) {
	b := newBench(t, session.Options{})
	s, box := b.connect(1, "c1", ahp.RootURI)
	client := session.SessionActiveClient{ClientID: "c1"}
	if err := b.create(s, session.CreateSessionParams{Channel: "ahp-session:/a", ActiveClient: &client}); err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","method":"root/sessionAdded","params":{"channel":"ahp-root://","summary":{"resource":"ahp-session:/a","provider":"canvas","title":"New Session","status":1,"createdAt":"2026-07-01T10:00:00.000Z","modifiedAt":"2026-07-01T10:00:00.000Z"}}}
{"jsonrpc":"2.0","method":"action","params":{"channel":"ahp-root://","action":{"type":"root/activeSessionsChanged","activeSessions":1},"serverSeq":2}}`
	if diff := cmp.Diff(want, box.take()); diff != "" {
		t.Errorf("root received (-want +got):\n%s", diff)
	}
	state, _ := b.log.State("ahp-session:/a")
	if got := string(ahp.MustMarshal(state)); got != `{"provider":"canvas","title":"New Session","status":1,"lifecycle":"ready","activeClients":[{"clientId":"c1","tools":[]}],"chats":[]}` {
		t.Errorf("state %s", got)
	}
}

func TestCreateRefusals(t *testing.T) {
	other, own := "other", "canvas"
	for _, tc := range []struct {
		name string
		p    session.CreateSessionParams
		code ahp.Code
	}{
		{"exists", session.CreateSessionParams{Channel: "ahp-session:/a"}, ahp.CodeSessionExists},
		{"other scheme", session.CreateSessionParams{Channel: "ahp-canvas:/a"}, ahp.CodeInvalidParams},
		{"no id", session.CreateSessionParams{Channel: "ahp-session:/"}, ahp.CodeInvalidParams},
		{"slashes only", session.CreateSessionParams{Channel: "ahp-session://"}, ahp.CodeInvalidParams},
		{"control character", session.CreateSessionParams{Channel: "ahp-session:/b\x00c"}, ahp.CodeInvalidParams},
		{"unknown provider", session.CreateSessionParams{Channel: "ahp-session:/b", Provider: &other}, ahp.CodeProviderNotFound},
		{"fork", session.CreateSessionParams{Channel: "ahp-session:/b", Fork: ahp.Value(`{}`)}, ahp.CodeInvalidParams},
		{"another client", session.CreateSessionParams{Channel: "ahp-session:/b", ActiveClient: &session.SessionActiveClient{ClientID: "c2"}}, ahp.CodeInvalidParams},
		{"limit", session.CreateSessionParams{Channel: "ahp-session:/c", Provider: &own}, ahp.CodePermissionDenied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, session.Options{MaxSessions: 1})
			s, _ := b.connect(1, "c1")
			if err := b.svc.Ensure("ahp-session:/a", "A"); err != nil {
				t.Fatal(err)
			}
			if err := b.create(s, tc.p); !errors.Is(err, &ahp.Error{Code: tc.code}) {
				t.Errorf("error %v, want code %d", err, tc.code)
			}
		})
	}
}

func TestBeforeDisposeIsCalledFirst(t *testing.T) {
	var b *bench
	var box *inbox
	b = newBench(t, session.Options{BeforeDispose: func(ctx context.Context, uri string) (func(*channels.Tx, bool), error) {
		if _, exists := b.log.State(uri); !exists {
			t.Error("removed before BeforeDispose")
		}
		_, err := b.svc.DisposeSession(ctx, nil, ahp.ChannelParams{Channel: uri})
		if !errors.Is(err, ahp.ErrSessionNotFound) {
			t.Errorf("a concurrent dispose: %v", err)
		}
		box.take()
		return func(*channels.Tx, bool) {}, nil
	}})
	s, box2 := b.connect(1, "c1", ahp.RootURI)
	box = box2
	b.create(s, session.CreateSessionParams{Channel: "ahp-session:/a"})
	if _, err := b.svc.DisposeSession(t.Context(), s, ahp.ChannelParams{Channel: "ahp-session:/a"}); err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","method":"root/sessionRemoved","params":{"channel":"ahp-root://","session":"ahp-session:/a"}}
{"jsonrpc":"2.0","method":"action","params":{"channel":"ahp-root://","action":{"type":"root/activeSessionsChanged","activeSessions":0},"serverSeq":3}}`
	if diff := cmp.Diff(want, box.take()); diff != "" {
		t.Error(diff)
	}
	if _, err := b.svc.DisposeSession(t.Context(), s, ahp.ChannelParams{Channel: "ahp-session:/a"}); !errors.Is(err, ahp.ErrSessionNotFound) {
		t.Errorf("dispose of a removed session: %v", err)
	}
}

func TestListIsNewestFirst(t *testing.T) {
	b := newBench(t, session.Options{})
	s, _ := b.connect(1, "c1")
	for i := range 3 {
		b.create(s, session.CreateSessionParams{Channel: fmt.Sprint("ahp-session:/", i)})
	}
	b.now = b.now.Add(time.Second)
	b.log.Update(func(tx *channels.Tx) error { return tx.Append("ahp-session:/0", session.TitleChanged{Title: "T"}) })
	got, _ := b.svc.ListSessions(t.Context(), s, session.ListSessionsParams{})
	var order []string
	for _, item := range got.Items {
		order = append(order, item.Resource+" "+item.ModifiedAt[17:])
	}
	want := []string{"ahp-session:/0 01.000Z", "ahp-session:/2 00.000Z", "ahp-session:/1 00.000Z"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
}

func TestSummaryChangesAreAnnounced(t *testing.T) {
	for _, tc := range []struct {
		name    string
		action  ahp.Action
		changes string // "" if nothing is announced
	}{
		{"title", session.TitleChanged{Title: "T"}, `{"title":"T","modifiedAt":"2026-07-01T10:00:05.000Z"}`},
		{"status", session.IsReadChanged{IsRead: true}, `{"status":33,"modifiedAt":"2026-07-01T10:00:05.000Z"}`},
		{"activity set", session.ActivityChanged{Activity: new("b")}, `{"activity":"b","modifiedAt":"2026-07-01T10:00:05.000Z"}`},
		{"activity cleared", session.ActivityChanged{}, `{"activity":null,"modifiedAt":"2026-07-01T10:00:05.000Z"}`},
		{"same title", session.TitleChanged{Title: "New Session"}, ""},
		{"no summary field", session.ServerToolsChanged{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, session.Options{})
			s, box := b.connect(1, "c1", ahp.RootURI)
			b.create(s, session.CreateSessionParams{Channel: "ahp-session:/a"})
			b.log.Update(func(tx *channels.Tx) error {
				return tx.Append("ahp-session:/a", session.ActivityChanged{Activity: new("a")})
			})
			box.take()
			b.now = b.now.Add(5 * time.Second)
			b.log.Update(func(tx *channels.Tx) error { return tx.Append("ahp-session:/a", tc.action) })
			want := ""
			if tc.changes != "" {
				want = `{"jsonrpc":"2.0","method":"root/sessionSummaryChanged","params":{"channel":"ahp-root://","session":"ahp-session:/a","changes":` + tc.changes + `}}`
			}
			if diff := cmp.Diff(want, box.take()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestClientsChangeTheirOwnEntry(t *testing.T) {
	const ok = ""
	for _, tc := range []struct{ name, action, reason string }{
		{"own entry", `{"type":"session/activeClientSet","activeClient":{"clientId":"c1","tools":[]}}`, ok},
		{"another's entry", `{"type":"session/activeClientSet","activeClient":{"clientId":"c2","tools":[]}}`, "a client may only set or remove its own entry"},
		{"another's removal", `{"type":"session/activeClientRemoved","clientId":"c2"}`, "a client may only set or remove its own entry"},
		{"an entry without an id", `{"type":"session/activeClientSet","activeClient":{"clientId":"","tools":[]}}`, "session/activeClientSet: /activeClient/clientId: must not be empty"},
		{"a tool without a name", `{"type":"session/activeClientSet","activeClient":{"clientId":"c1","tools":[{}]}}`, "session/activeClientSet: /activeClient/tools/0/name: required"},
		{"config without config", `{"type":"session/configChanged","config":{"a":1}}`, "this channel has no config to change"},
		{"older spelling, another's", `{"type":"session/activeClientChanged","activeClient":{"clientId":"c2","tools":[]}}`, "a client may only set or remove its own entry"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, session.Options{})
			b.svc.Ensure("ahp-session:/a", "A")
			s, box := b.connect(1, "c1", "ahp-session:/a")
			b.send(s, "ahp-session:/a", tc.action)
			reason := ""
			if tc.reason != ok {
				reason = fmt.Sprintf(`,"rejectionReason":%q`, tc.reason)
			}
			want := `{"jsonrpc":"2.0","method":"action","params":{"channel":"ahp-session:/a","action":` + tc.action +
				`,"serverSeq":3,"origin":{"clientId":"c1","clientSeq":1}` + reason + `}}`
			if diff := cmp.Diff(want, box.take()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOlderSpellingIsEchoedAsTheNewer(t *testing.T) {
	b := newBench(t, session.Options{})
	b.svc.Ensure("ahp-session:/a", "A")
	s, box := b.connect(1, "c1", "ahp-session:/a")
	b.send(s, "ahp-session:/a", `{"type":"session/activeClientChanged","activeClient":{"clientId":"c1","tools":[]}}`)
	b.send(s, "ahp-session:/a", `{"type":"session/activeClientChanged","activeClient":null}`)
	for _, want := range []string{
		`"action":{"type":"session/activeClientSet","activeClient":{"clientId":"c1","tools":[]}},"serverSeq":3`,
		`"action":{"type":"session/activeClientRemoved","clientId":"c1"},"serverSeq":4`,
	} {
		if len(box.frames) == 0 || !strings.Contains(box.frames[0], want) {
			t.Fatalf("want %s in %v", want, box.frames)
		}
		box.frames = box.frames[1:]
	}
}

func TestMutableConfigOnly(t *testing.T) {
	config := &session.Config{
		Schema: ahp.Value(`{"type":"object","properties":{"a":{"sessionMutable":true},"b":{}}}`),
		Values: map[string]ahp.Value{"a": ahp.Value("1")},
	}
	b := newBench(t, session.Options{Prepare: func(_ *channels.Tx, _ string, s session.State) session.State {
		s.Config = config
		return s
	}})
	b.svc.Ensure("ahp-session:/a", "A")
	s, box := b.connect(1, "c1", "ahp-session:/a")
	b.send(s, "ahp-session:/a", `{"type":"session/configChanged","config":{"b":1}}`)
	if got := box.take(); !strings.Contains(got, `"rejectionReason":"config value \"b\" may not be changed in a session"`) {
		t.Errorf("b: %s", got)
	}
	b.send(s, "ahp-session:/a", `{"type":"session/configChanged","config":{"a":2}}`)
	if got := box.take(); strings.Contains(got, "rejectionReason") || got == "" {
		t.Errorf("a: %s", got)
	}
}

func TestPresence(t *testing.T) {
	b := newBench(t, session.Options{})
	for _, uri := range []string{"ahp-session:/a", "ahp-session:/b", "ahp-session:/c"} {
		b.svc.Ensure(uri, "S")
		b.log.Update(func(tx *channels.Tx) error {
			return tx.Append(uri, session.ActiveClientSet{ActiveClient: session.SessionActiveClient{ClientID: "c1"}})
		})
	}
	active := func() (uris []string) {
		for _, uri := range []string{"ahp-session:/a", "ahp-session:/b", "ahp-session:/c"} {
			if st, _ := b.log.State(uri); len(st.(session.State).ActiveClients) > 0 {
				uris = append(uris, uri)
			}
		}
		return uris
	}
	b.svc.ClientLeft("c1", "ahp-session:/a")
	b.svc.ClientLeft("c1", "ahp-canvas:/x")
	b.svc.ClientLeft("stranger", "ahp-session:/b")
	if diff := cmp.Diff([]string{"ahp-session:/b", "ahp-session:/c"}, active()); diff != "" {
		t.Error(diff)
	}
	b.svc.ClientGone("c1", func(uri string) bool { return uri == "ahp-session:/c" })
	if diff := cmp.Diff([]string{"ahp-session:/c"}, active()); diff != "" {
		t.Error(diff)
	}
}
