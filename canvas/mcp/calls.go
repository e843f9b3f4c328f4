package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// Service implements the tools; host.Canvases is one. Its errors of type
// *canvas.Error reach the agent with their codes.
type Service interface {
	// List returns the declarations of a session.
	List(session string) ([]session.SessionCanvasDeclaration, error)
	// ListOpen returns the open canvases of a session.
	ListOpen(session string) ([]canvas.OpenCanvas, error)
	// Open opens or updates a canvas.
	Open(ctx context.Context, args canvas.OpenArgs) (canvas.OpenCanvas, error)
	// Invoke runs an action of an open canvas.
	Invoke(ctx context.Context, args canvas.InvokeArgs) (ahp.Value, error)
	// Close closes a canvas.
	Close(ctx context.Context, session, instanceID string) error
	// Events returns the events after a cursor, and waits for the first one.
	Events(ctx context.Context, session string, after int64, timeout time.Duration) (canvas.EventPage, error)
}

// panel is an open canvas in a tool's result. It has no content URL, which an agent
// does not need.
type panel struct {
	InstanceID   string                     `json:"instanceId"`
	Channel      string                     `json:"channel"`
	CanvasID     string                     `json:"canvasId"`
	ExtensionID  string                     `json:"extensionId"`
	Availability session.CanvasAvailability `json:"availability"`
	Title        string                     `json:"title,omitzero"`
	Status       string                     `json:"status,omitzero"`
	IsPrivate    bool                       `json:"isPrivate,omitzero"` // a person hid it from looks
	Cursor       *int64                     `json:"cursor,omitzero"`    // of the events; only in the result of open_canvas
	Answer       ahp.Value                  `json:"answer,omitzero"`    // of the provider; likewise
	audience
}

// audience says in a result who sees a session.
type audience struct {
	People *int   `json:"people,omitzero"` // how many people look; absent if it is not known
	Link   string `json:"link,omitzero"`   // for the person, if no person looks
}

func (s *Server) audience(session string) (a audience) {
	if s.opts.People != nil {
		a.People = new(s.opts.People(session))
	}
	if a.People == nil || *a.People == 0 {
		a.Link = s.opts.Link(session)
	}
	return a
}

// maxPresent is how many people a result names.
const maxPresent = 20

// present returns the people of a session, the newest first, if any of them has a name.
func (s *Server) present(session string) []canvas.Person {
	if s.opts.Present == nil {
		return nil
	}
	people := s.opts.Present(session)
	if !slices.ContainsFunc(people, func(p canvas.Person) bool { return p.Name != "" }) {
		return nil
	}
	return people[:min(len(people), maxPresent)]
}

// text ends the sentence of a result.
func (a audience) text() string {
	switch {
	case a.Link != "":
		return " Nobody has the page open: give the person this link, which is good once, for ten minutes: " + a.Link
	case a.People != nil:
		return fmt.Sprintf(" People who look at the page now: %d.", *a.People)
	}
	return ""
}

func panelOf(o canvas.OpenCanvas) panel {
	return panel{InstanceID: o.InstanceID, Channel: o.Channel, CanvasID: o.CanvasID, ExtensionID: o.ExtensionID,
		Availability: o.Availability, Title: o.Title, Status: o.Status, IsPrivate: o.IsPrivate, Answer: o.Answer}
}

func (s *Server) listOpen(_ context.Context, raw ahp.Value) (answer, error) {
	var args listArgs
	if err := decode(raw, &args, &args.Unknown); err != nil {
		return answer{}, err
	}
	target := s.session(args.Session)
	all, err := s.service.ListOpen(target)
	if err != nil {
		return answer{}, err
	}
	panels, names := []panel{}, []string{}
	for _, o := range all {
		panels = append(panels, panelOf(o))
		names = append(names, fmt.Sprintf("%s (canvas %s, %s)", o.InstanceID, o.CanvasID, o.Availability))
	}
	text := "No canvas is open. " + ToolOpen + " opens one."
	if len(all) > 0 {
		text = "Open: " + strings.Join(names, ", ") + "."
	}
	var who audience
	if len(all) > 0 {
		who = s.audience(target)
	}
	return answer{text: text + who.text(), value: struct {
		OpenCanvases []panel         `json:"openCanvases"`
		Present      []canvas.Person `json:"present,omitzero"` // who looks; only if there is a name
		audience
	}{panels, s.present(target), who}}, nil
}

func (s *Server) open(ctx context.Context, raw ahp.Value) (answer, error) {
	var args openArgs
	if err := decode(raw, &args, &args.Unknown); err != nil {
		return answer{}, err
	}
	instance, err := args.instance()
	if err != nil {
		return answer{}, err
	}
	target := s.session(args.Session)
	o, err := s.service.Open(ctx, canvas.OpenArgs{
		Session: target, ExtensionID: args.ExtensionID, CanvasID: args.CanvasID,
		InstanceID: instance, Input: absent(args.Input),
	})
	if err != nil {
		return answer{}, err
	}
	a := panelOf(o)
	a.audience, a.Cursor = s.audience(target), &o.Cursor
	text := fmt.Sprintf("Canvas %s is open as instance %s (%s). Pass cursor %d to %s as after to get what the person does from here on.", a.CanvasID, a.InstanceID, a.Availability, o.Cursor, ToolWait)
	return answer{text + a.text(), a, s.viewMeta(o.Channel)}, nil
}

func (s *Server) invoke(ctx context.Context, raw ahp.Value) (answer, error) {
	var args invokeArgs
	if err := decode(raw, &args, &args.Unknown); err != nil {
		return answer{}, err
	}
	value, err := s.service.Invoke(ctx, canvas.InvokeArgs{
		Session: s.session(args.Session), InstanceID: args.InstanceID, ActionName: args.ActionName, Input: absent(args.Input),
	})
	if err != nil {
		return answer{}, err
	}
	text := fmt.Sprintf("%s is done.", args.ActionName)
	if len(value) > 0 {
		text = fmt.Sprintf("%s is done; its value follows.", args.ActionName)
	}
	return answer{text: text, value: struct {
		Value ahp.Value `json:"value,omitzero"`
	}{value}}, nil
}

func (s *Server) close(ctx context.Context, raw ahp.Value) (answer, error) {
	var args closeArgs
	if err := decode(raw, &args, &args.Unknown); err != nil {
		return answer{}, err
	}
	if err := s.service.Close(ctx, s.session(args.Session), args.InstanceID); err != nil {
		return answer{}, err
	}
	return answer{text: "Instance " + args.InstanceID + " is closed.", value: struct {
		InstanceID string `json:"instanceId"`
		Closed     bool   `json:"closed"`
	}{args.InstanceID, true}}, nil
}

// session returns the named session, or the default one.
func (s *Server) session(named string) string { return cmp.Or(named, s.opts.Session) }
