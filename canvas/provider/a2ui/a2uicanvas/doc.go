// Package a2uicanvas makes A2UI surfaces canvases of a host (package a2ui has the
// protocol): agents describe an interface as data, the official renderer draws it in the
// page, and what people do goes to the agent that drew it.
//
// Canvas a2ui is for the agents of the session, which draw with the action apply. A remote
// agent has a canvas a2ui-NAME: the session's agent and the person talk to it, and it draws.
//
// # Guarantees
//
//   - Views get accepted messages alone, in the order in which they were applied, each part
//     with a revision. A View that says hello gets everything.
//   - apply answers when the surfaces are on the disk. A remote agent's answer is saved every
//     500 ms and at its end.
//   - A person's act counts for a surface of this instance, and for no other. Data models
//     of surfaces that are not here, or do not sync, are dropped before anything sees them.
//   - An agent gets the events and data models of the surfaces that it created, and no
//     others. The names of tokens distinguish the agents of a session. What people enter on
//     a2ui-NAME is for that remote agent alone.
//   - Only a person's View acts (canvas.View.Person).
//   - Logs contain no texts, data and URLs.
//
// # Messages
//
// Payloads of canvas/message are A2UI's own, as parts of an A2A message:
//
//	{"parts":[],"metadata"}                             from a View: everything, please
//	{"parts":[{"kind":"data",…},{"kind":"text",…}],…}   actions, errors and texts
//	{"kind":"data","metadata":{…},"data":[…]}           to Views. The metadata has
//	    x-ahp-canvas/rev, and x-ahp-canvas/replay ("begin", "more", "end") if the part
//	    belongs to everything
//	{"a2ui":"refused","code","message"}                 to the View whose message was refused
//	{"a2ui":"status","agent","state","text"}            what a remote agent does
//	{"a2ui":"read"}                                     the agent has read what is entered
//
// view/1's a2ui.model asks a page for what is entered now. A View that only looks gets
// everything for the hello of view/1.
//
// # Ownership
//
// A remote agent's turns run in one goroutine of the instance while there are some, with one
// for the agent's Send. Close of the instance cancels and waits for them, Provider.Close for
// all. At most 8 turns wait.
//
// # Where to look
//
// panel.go opens and saves, actions.go is what agents do, views.go what Views send and
// drawing.go what they get, turns.go and answers.go the remote agent, content.go what is
// served. page has the page; build makes the
// renderer in it.
//
// The package imports ahp, canvas, canvas/outbound, canvas/provider/a2ui,
// canvas/provider/sample (the look of the page), canvas/view and channels (a View's
// connection).
package a2uicanvas
