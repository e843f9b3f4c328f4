// Package canvas is the contract of the Canvas surface: what hosts, clients and
// providers agree on (canvas/PROTOCOL.md). It holds declarations, the state and
// actions of a canvas channel, methods, errors and content paths, and the interfaces
// that a provider implements. It has no lock, no goroutine, no validator and no store:
// package canvas/engine runs canvases in a host, and package canvas/client runs them in
// a client.
//
// # Providers
//
// A [Provider] opens canvases. Its answer is an [Instance], which runs actions, and
// which may also take messages from Views ([Messenger]) and serve content ([Reader]).
// It works the instance through a [Handle]: title, status, messages, saved data. The
// same provider value runs in a host and in a client.
//
// [New] makes a provider of functions: a small canvas takes a few lines.
//
// # State
//
// A [CanvasState] is a value that is never changed in place. [Reduce] applies the
// [Actions] to it, in hosts and clients alike. [ChannelKinds] lists every kind of
// channel with its actions and reducer, for programs that read the wire.
//
// # Errors
//
// Every failure of a canvas operation is an [*Error] with a code. A provider's own code
// reaches the agent unchanged.
//
// The package imports session, channels and ahp, and google/jsonschema-go, which only
// infers the schemas of [New] and [AddAction] from Go types.
package canvas
