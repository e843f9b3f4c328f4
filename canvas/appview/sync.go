package appview

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/attach"
)

// SyncArgs are the arguments of the tool canvas_view_sync (canvas/PROTOCOL.md section 7.6).
type SyncArgs struct {
	// Channel and Ticket are those of the result of open_canvas.
	Channel string `json:"channel"`
	Ticket  string `json:"ticket"`
	// View names the View: 32 hexadecimal digits that the shell chose.
	View string `json:"view"`
	// After is Next of the newest answer that the shell has; 0 before the first one.
	After int64 `json:"after"`
	// Wait is how many seconds to wait for a message.
	Wait float64 `json:"wait,omitzero"`
	// Say are messages for the canvas's provider, in order.
	Say []Say `json:"say,omitzero"`
	// Bye ends the View.
	Bye bool `json:"bye,omitzero"`
}

// Say is a message of the shell.
type Say struct {
	// Seq rises by one with each message of a View.
	Seq int64 `json:"seq"`
	// Payload is the payload of a canvas/message.
	Payload ahp.Value `json:"payload"`
}

// SyncAnswer answers canvas_view_sync.
type SyncAnswer struct {
	// Messages are what the View received after SyncArgs.After, in order.
	Messages []Message `json:"messages"`
	// Echoes answer SyncArgs.Say.
	Echoes []Echo `json:"echoes"`
	// Next is the number of the last of Messages.
	Next int64 `json:"next"`
	// Lost says that messages were lost: the shell says hello again.
	Lost bool `json:"lost,omitzero"`
	// Gone says that the canvas was closed.
	Gone bool `json:"gone,omitzero"`
}

// Message is one of four things that a View receives.
type Message struct {
	// Payload is the payload of a canvas/message.
	Payload ahp.Value `json:"payload,omitzero"`
	// State is the state after a change.
	State *State `json:"state,omitzero"`
	// Reload says that the canvas has another document.
	Reload bool `json:"reload,omitzero"`
	// Events are for the model of the chat.
	Events []canvas.Event `json:"events,omitzero"`
}

// State is what a shell shows of a canvas around its document.
type State struct {
	// Title is never empty.
	Title string `json:"title"`
	// Status is "" if there is none.
	Status string `json:"status,omitzero"`
	// Availability is "ready" or "stale".
	Availability string `json:"availability"`
	// Links reports whether the canvas may offer links to the person.
	Links bool `json:"links,omitzero"`
	// Input is the input of the canvas; nil if there is none.
	Input ahp.Value `json:"input,omitzero"`
}

// Echo says what became of a message of the shell.
type Echo struct {
	// Seq is that of the message.
	Seq int64 `json:"seq"`
	// Reason says why it was refused; "" if it was sent.
	Reason string `json:"reason,omitzero"`
}

func (s *SyncArgs) check() error {
	invalid := func(path, format string, args ...any) error {
		return &canvas.Error{Code: canvas.CodeInputInvalid, Path: path, Rule: "limit", Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(s.Say) > MaxSay:
		return invalid("/say", "%d messages in one call, at most %d are allowed", len(s.Say), MaxSay)
	case s.After < 0:
		return invalid("/after", "want the number of an answer, or 0")
	}
	for i, one := range s.Say {
		if one.Seq < 1 || one.Payload == nil {
			return invalid(fmt.Sprintf("/say/%d", i), "want seq from 1 on, and payload")
		}
	}
	return nil
}

// Sync carries messages in both directions: those of the shell, and those for it, for which it
// waits. Its errors are *[canvas.Error]; a View that does not exist is [CodeViewLost].
func (a *Apps) Sync(ctx context.Context, args SyncArgs) (SyncAnswer, error) {
	if err := a.admit(args.Channel, args.Ticket, args.View); err != nil {
		return SyncAnswer{}, err
	}
	if err := args.check(); err != nil {
		return SyncAnswer{}, err
	}
	v := a.find(args.Channel, args.View)
	if v == nil || !v.renew() {
		return SyncAnswer{}, canvas.Errorf(CodeViewLost, "the host does not know this view any more: attach again")
	}
	defer v.renew()
	return v.sync(ctx, args)
}

func (v *view) sync(ctx context.Context, args SyncArgs) (SyncAnswer, error) {
	wait := time.Duration(max(0, min(args.Wait, MaxWait.Seconds())) * float64(time.Second))
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	v.mu.Lock()
	defer v.mu.Unlock()
	if wait > 0 {
		if v.poll != nil {
			v.poll() // at most one call waits
		}
		v.poll = cancel
	}
	v.confirm(args.After)
	answer := SyncAnswer{Messages: []Message{}, Echoes: append([]Echo{}, v.say(args.Say)...)}
	for {
		ready := v.attached.Ready()
		lost, err := v.receive()
		answer.Lost = answer.Lost || lost
		answer.Gone = errors.Is(err, attach.ErrClosed)
		if v.ended || answer.Gone || answer.Lost || args.Bye || wait == 0 || len(v.kept) > 0 || ctx.Err() != nil {
			break
		}
		v.wait(ctx, ready)
	}
	answer.Next = args.After
	for _, k := range v.kept {
		if k.n > args.After {
			answer.Messages, answer.Next = append(answer.Messages, k.m), k.n
		}
	}
	if args.Bye || answer.Gone {
		v.mu.Unlock()
		v.end()
		v.mu.Lock()
	}
	return answer, nil
}

// wait gives up mu until the View has received something, the time is over or the View ends.
func (v *view) wait(ctx context.Context, ready <-chan struct{}) {
	v.mu.Unlock()
	defer v.mu.Lock()
	select {
	case <-ready:
	case <-v.done:
	case <-ctx.Done():
	}
}
