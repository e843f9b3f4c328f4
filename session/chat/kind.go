package chat

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Options configures the chats of a host.
type Options struct {
	// Now is the clock.
	Now func() time.Time
	// Prompt receives each message of a person: the session's URI, the text, and the id of
	// the client. It must return at once. It may be nil.
	Prompt func(session, text, clientID string)
}

// Kind returns the kind of chat channels. They are made when they are first subscribed to.
func Kind(opts Options) *channels.Kind {
	return &channels.Kind{
		Scheme:     Scheme,
		Actions:    Actions,
		Capability: Capability,
		Unnumbered: true,
		Reduce:     Reduce,
		Make: func(tx *channels.ReadTx, uri string) (string, channels.State, bool) {
			parent := SessionOf(uri)
			return parent, first(tx, parent, opts.Now()), parent != ""
		},
		Permit: permit,
		After:  answer,
		Size:   size,
		Effect: func(d channels.Dispatch) {
			if a, ok := d.Action.(TurnStarted); ok && opts.Prompt != nil {
				opts.Prompt(SessionOf(d.Channel), a.Message.Text, d.From.ClientID)
			}
		},
	}
}

// permit refuses a turn beside another, and one whose id was used before.
func permit(tx *channels.ReadTx, d *channels.Dispatch) error {
	a, ok := d.Action.(TurnStarted)
	if !ok {
		return nil
	}
	state, _ := tx.State(d.Channel)
	s := state.(State)
	if s.ActiveTurn != nil {
		return errors.New("another turn has not ended")
	}
	if s.has(a.TurnID) {
		return fmt.Errorf("the chat has a turn %q already", a.TurnID)
	}
	return nil
}

// answer completes a turn that a client has started.
func answer(tx *channels.Tx, uri string, _, now channels.State, a ahp.Action) {
	started, ok := a.(TurnStarted)
	if !ok || now.(State).ActiveTurn == nil || started.own {
		return
	}
	of := SessionOf(uri)
	shown := open(&tx.ReadTx, of)
	sentence := "This host shows canvases; it has no model. Your message went to the agent."
	if len(shown) == 0 {
		sentence += " No canvas is open."
	}
	publish(tx, uri, show(started.TurnID, of, sentence, shown))
}

// escape makes a text of others plain in Markdown.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]()<>#+-.!|~&\n", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func size(state channels.State) int {
	s := state.(State)
	n := 256 + len(s.Draft)
	for _, t := range s.Turns {
		n += 256 + len(t.Message.Text) + len(t.Message.Extra)
		for _, p := range t.ResponseParts {
			n += 64 + len(p.Content) + 256*len(p.Canvases)
			if p.ToolCall != nil {
				n += 1024 + len(p.ToolCall.Meta.UI.Channel)
			}
		}
	}
	return n
}
