package host

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/history"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// methods returns the host's methods, without those of the connection itself. Other
// methods are answered with -32601 (ahp/PROTOCOL.md section 1a).
func methods(s *session.Service, c *engine.Engine, p *people, past *history.History, direct func(context.Context, *channels.Subscriber, canvas.DirectParams) (canvas.DirectResult, error)) []server.Method {
	return []server.Method{
		server.Handle(session.CreateSession, s.CreateSession),
		server.Handle(session.DisposeSession, s.DisposeSession).Concurrent(),
		server.Handle(session.ListSessions, s.ListSessions),
		server.Handle(session.ResolveSessionConfig, s.ResolveSessionConfig),
		server.Handle(session.SessionConfigCompletions, s.SessionConfigCompletions),

		server.HandleStream(canvas.CanvasReadResource, c.Content.StreamResource),
		server.Handle(canvas.CanvasSetPrivate, c.SetPrivate),
		server.Handle(canvas.CanvasUndoClose, c.UndoClose),
		server.Handle(canvas.CanvasPersonOpen, c.PersonOpen).Concurrent(),
		server.Handle(canvas.CanvasPeople, p.ask),
		server.Handle(canvas.CanvasInvite, p.invite),
		server.Handle(canvas.CanvasHistory, past.Ask),
		server.Handle(canvas.CanvasDirect, direct),
		server.HandleContent(ahp.ResourceRead, c.Content.ResourceRead),
		server.Handle(ahp.ResourceResolve, c.Content.ResourceResolve).Concurrent(),

		// These answer permission denied, which unlike an unknown method says what to do
		// instead (canvas/PROTOCOL.md section 4).
		server.RefuseUnread(canvas.CanvasOpen.MethodInfo, errNotForClients),
		server.RefuseUnread(canvas.CanvasInvokeAction.MethodInfo, errNotForClients),
		server.RefuseUnread(canvas.CanvasClose.MethodInfo, errNotForClients),
		server.Refuse(ahp.ResourceRequest, errNoAccess),
		server.Refuse(ahp.ResourceList, ahp.ErrNotFound),
		server.Refuse(ahp.Authenticate, errNoResource),
	}
}

var (
	errNotForClients = ahp.Errorf(ahp.CodePermissionDenied, "only the host calls a canvas provider: ask the agent, or dispatch canvas/closeRequested")
	errNoAccess      = ahp.Errorf(ahp.CodePermissionDenied, "this host gives no access to files")
	errNoResource    = ahp.Errorf(ahp.CodeInvalidParams, "this host has no protected resources: nothing is to be authenticated")
)
