// Package engine runs the canvases of a host: the registry of providers, the flows
// that open, invoke and close instances, and the content that instances serve. It
// implements the contract of package canvas (canvas/PROTOCOL.md) and knows no socket.
//
// # Guarantees
//
//   - One flow at a time runs on an instance, in the order of arrival. Flows of
//     different instances do not wait for each other.
//   - Open is idempotent on session and instance id. A reopen that fails leaves the
//     channel's state as it was.
//   - A channel can be subscribed to before the catalog names it, and still exists
//     when its catalog entry is removed. A change of both is one transaction.
//   - What a provider published before it answered is applied before the caller
//     receives the answer. An answer counts only from the provider that was asked,
//     only if that provider stayed reachable, and only before the deadline. An
//     instance that comes with a later answer is closed.
//   - What was answered is durable: the store has it before the log shows it.
//   - A provider's Close is called once for an instance. Neither its error nor its
//     silence keeps the instance open.
//   - Messages of Views reach the provider in the order of the log, and no other View.
//   - After a restart every instance exists again, stale and without a url, until its
//     provider opens it with the input and the data that it had.
//
// # Where to look
//
//	engine.go                  the Engine, its options, start and shutdown
//	registry.go, clients.go    who provides canvases: registered programs, and clients
//	open.go                    the open flow, in steps: plan.go, prepare.go, commit.go
//	reopen.go                  the same for stale instances, when a provider returns
//	invoke.go, close.go        the other flows
//	turns.go, call.go          one flow at a time; a request to a provider
//	commit.go                  durable, then visible, many flows at once
//	record.go, restore.go      what the store holds, and the next start
//	instance.go, catalog.go    open instances, and their entries in the sessions
//	handle.go, mailbox.go      what a provider does, and what Views send it
//	kind.go                    what the log asks about canvas channels
//	content.go, cache.go       content that instances serve
//	events.go                  what agents read
//	clientprovider.go          a client as a provider
//
// # Concurrency
//
// Registry, instances, catalog and admission are guarded by the log's mutex: they
// change in the transactions that publish the change, so they cannot disagree with it.
// No provider is called, and nothing waits, inside a transaction. turns, mailbox,
// cache, events, vetted and lifetime have a mutex each, under which nothing else is
// locked or called. The methods of a handle are transactions too.
//
// Every goroutine and timer belongs to tasks. [Engine.Shutdown] cancels them and waits;
// a provider that ignores its context is what it waits for.
//
// A call to a client provider is sent once or not at all. When a client's last
// connection ends, its instances become stale in one transaction; when it returns, they
// are opened again.
//
// Only package host and test kits import this package; programs use package host. It
// imports canvas, canvas/check, canvas/jsonschema, canvas/engine/contentjson, session,
// channels, channels/groupcommit, ahp and ahp/heavy.
package engine
