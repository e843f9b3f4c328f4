package chat_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

const (
	sessionURI = "ahp-session:/s"
	chatURI    = "ahp-chat:/s"
)

// newLog returns a log with a session that has open canvases, and a connection.
func newLog(t *testing.T, titles ...string) (*channels.Log, *channels.Subscriber) {
	t.Helper()
	log := channels.New(channels.Options{})
	service := session.New(session.Options{Log: log, Prepare: func(_ *channels.Tx, _ string, s session.State) session.State {
		for i, title := range titles {
			s.OpenCanvases = append(s.OpenCanvases, session.OpenCanvasRef{InstanceID: fmt.Sprint("c", i), Channel: fmt.Sprint("ahp-canvas:/", i), Title: &title, Availability: session.Ready})
		}
		return s
	}})
	log.AddKind(chat.Kind(chat.Options{Now: time.Now}))
	if err := service.Ensure(sessionURI, "Session"); err != nil {
		t.Fatal(err)
	}
	return log, &channels.Subscriber{ClientID: "c", Caps: ahp.Capabilities{chat.Capability}, Sink: nothing{}}
}

type nothing struct{}

func (nothing) Deliver(*channels.Frame)    {}
func (nothing) DeliverAll(*channels.Batch) {}

func subscribe(t *testing.T, log *channels.Log, s *channels.Subscriber) {
	t.Helper()
	if err := log.Update(func(tx *channels.Tx) error { _, err := tx.Subscribe(s, chatURI); return err }); err != nil {
		t.Fatal(err)
	}
}

func state(t *testing.T, log *channels.Log) chat.State {
	t.Helper()
	s, ok := log.State(chatURI)
	if !ok {
		t.Fatal("no chat")
	}
	return s.(chat.State)
}

// TestThousandTurns: each turn of a client is complete when the next one begins, also with
// the origin of the host's turns; the newest 20 stay.
func TestThousandTurns(t *testing.T) {
	log, s := newLog(t, "Board")
	subscribe(t, log, s)
	for i := range 1000 {
		action := ahp.Value(fmt.Sprintf(`{"type":"chat/turnStarted","turnId":"t%d","startedAt":"","message":{"text":"x","origin":{"kind":"systemNotification"}}}`, i))
		if err := log.Dispatch(s, ahp.DispatchActionParams{Channel: chatURI, Action: action}); err != nil {
			t.Fatal(err)
		}
	}
	got := state(t, log)
	if got.ActiveTurn != nil || len(got.Turns) != chat.MaxTurns || got.Turns[0].ID != "t980" || got.Turns[19].ID != "t999" {
		t.Errorf("%d turns, the first %q; the active one is %v", len(got.Turns), got.Turns[0].ID, got.ActiveTurn)
	}
	last := got.Turns[19].ResponseParts
	if len(last) != 2 || last[1].ToolCall == nil || last[1].ToolCall.Status != "completed" || last[1].ToolCall.Meta.UI.ResourceURI != "ui://ahp-canvas/c0" {
		t.Errorf("the answer is %+v", last)
	}
}

// TestFirstTurns: a chat begins with a turn for each canvas that was open, and a canvas
// that an agent opens later adds one.
func TestFirstTurns(t *testing.T) {
	log, s := newLog(t, "Board", "Map")
	opened := func() {
		if err := log.Update(func(tx *channels.Tx) error { chat.Opened(tx, sessionURI, "ahp-canvas:/1", time.Now()); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	opened() // there is no chat yet
	subscribe(t, log, s)
	if got := state(t, log).Turns; len(got) != 2 || got[0].Message.Text != "The agent opened Board" || got[0].State != "complete" || len(got[0].ResponseParts) != 2 {
		t.Fatalf("the chat begins with %+v", got)
	}
	opened()
	opened() // at the same number: entries of a chat have none
	if got := state(t, log); len(got.Turns) != 4 || got.Turns[2].ID == got.Turns[3].ID {
		t.Errorf("the chat has %+v", got)
	}
	got := state(t, log)
	if got.Turns[2].Message.Text != "The agent opened Map" || got.ActiveTurn != nil {
		t.Errorf("the chat has %+v", got)
	}
}
