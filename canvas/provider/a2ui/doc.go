// Package a2ui implements A2UI v0.9 on the side of a renderer: what agents send is
// validated and kept, and what people do is checked and goes to the agent that owns the
// surface. The package is usable alone; package a2uicanvas makes canvases of it.
//
// A2UI's words: a surface is a tree of components with a data model; a catalog says which
// components and functions there are. An agent draws with the messages createSurface,
// updateComponents, updateDataModel and deleteSurface; people answer with action and error.
//
// # Guarantees
//
//   - [Messages] accepts every wrapping that agents use, and is the only place that does.
//   - [Surfaces.Apply] works a list off in order. A message is applied entirely or not at
//     all; a wrong one is reported with a pointer into it, and the rest is applied. What it
//     returns as Out is all that a renderer may receive: validated, and with the names of
//     owners as the host knows them.
//   - An owner sees and changes its own surfaces alone.
//   - [Owners.Strip] leaves the models of one owner's surfaces. Without a known owner it
//     leaves none.
//   - Numbers keep their digits. Kept trees share nothing with messages.
//   - No pointer reaches a member __proto__, constructor or prototype.
//   - Everything is limited ([Limits]).
//
// A [Surfaces] is a value without lock and goroutine: its caller has both. A [Catalog] never
// changes and may be shared.
//
// # Where to look
//
// messages.go has the wrappings, catalog.go and explain.go the schemas, structure.go the
// rules outside the schemas, surfaces.go and apply.go the store, datamodel.go the data
// model, client.go what renderers send, owners.go the stripping. schemas is written by
// a2uicanvas/build from the official package.
//
// The package imports ahp and santhosh-tekuri/jsonschema.
package a2ui
