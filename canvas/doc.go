// Package canvas is the Canvas surface of a host: the ahp-canvas: channel kind,
// the registry of providers, the flows that open, invoke and close, and the
// content that open canvases serve. It asks a [Provider] and knows no socket.
//
// # What it promises
//
//   - One flow at a time runs on an instance, in the order of arrival; different
//     instances do not wait for each other.
//   - Open is idempotent on session and instanceId. A re-open that fails leaves
//     the channel's state as it was.
//   - A channel is subscribable before the catalogue names it, and is still there
//     when its row is taken out; a change of both is one transaction.
//   - What a provider dispatched before it answered is applied before the caller
//     sees the answer. An answer counts only from the provider that was asked, not
//     from one that was lost meanwhile, and within its deadline; an instance that
//     comes later is closed again.
//   - A provider hears of a close once. Neither its error nor its silence keeps an
//     instance open.
//   - What a View says reaches the provider in the order of the log, and nobody
//     else but the View itself (its echo).
//
// # Who guards what
//
// Registry and instances are guarded by the log's own mutex: they change in the
// transactions that publish the change, so there is nothing to keep in step. No
// provider is called, and nothing waits, inside a transaction. flows, mailbox,
// cache, events, vetted and life have a leaf mutex each; a schema's is held while one
// input is checked, a Vet's while one set is compiled, outside of transactions. A
// Handle's methods are transactions too; they call no provider.
//
// Every goroutine and timer belongs to tasks. [Service.Shutdown] cancels them and
// waits: a provider that does not heed its context is what it waits for.
//
// # Life of an open
//
//	open.go    plan (transaction) -> validate -> provider -> commit -> publish (transaction)
//	revive.go  the same, asked for by nobody: the provider is back
//	invoke.go  plan -> validate -> provider
//	close.go   plan -> provider -> commit -> publish
//
// commit is the store's turn (keep.go), without a lock: what is durable becomes
// visible, and nothing else. Flows that come while another's commit is on its way
// commit and publish together: one batch, one transaction, one action for each
// catalogue (together.go, rows.go). An open that was committed and cannot be
// published is taken back. After a restart (restore.go) every instance is there again, stale
// and without a url, until its provider opens it with the input and the bytes
// that it had.
//
// # Clients that provide
//
// A client provider is one more [Provider], over a [Caller] (clientprovider.go).
// What active clients declare is folded into the registry in the transaction of
// session/activeClientSet (fold.go); it is vetted, and its schemas compiled,
// before that transaction. A client's last connection's end makes its instances
// stale, its return opens them again, in one transaction each; a request to it
// is sent once or not at all. What a client declared is withheld while the connection
// that counts for it lacks the capability; its entry in the session stays, and so its
// declarations are back by themselves when a capable one counts.
//
// # Departures from the design, and choices that it leaves
//
//   - [OpenRequest] has Current, so that a provider need not keep a second map of
//     what is open. The handle of a live instance stays its handle through a
//     re-open; what a provider updates through it during a re-open that then fails
//     stays, as a client provider's dispatch would.
//   - An empty member of a provider's answer to a re-open keeps what was there.
//   - A declaration that its provider takes back makes its instances stale.
//   - Paths of canvas_input_invalid are pointers into the arguments: "/input/n".
//   - The depth of a schema counts levels of JSON. What it costs is bounded too: how
//     many parts it has, how far its patterns repeat, and how long an input may be held
//     against it, which is canvas_input_invalid then. $dynamicRef is not followed.
//   - A close that the store refuses (a full disk) fails with
//     canvas_store_failed, a code of ours, and leaves the canvas stale: gone from
//     sight, it would be back after a restart.
//   - Handle.Save returns when its bytes are durable, so it alone of a handle's
//     methods waits; between the provider's answer and the publishing of an open
//     it waits for that too.
//   - A provider that begins to answer http/1 only after a restart keeps the
//     _meta of before: canvas/updated cannot change it.
//   - That a person has closed an instance is an event for the agent, the one that the
//     host itself makes: it may wait there for what does not come any more.
//   - An instance that is no [Messenger] hears nothing; a View's message to it is
//     accepted, for to the protocol the payload is opaque.
//
// It imports session, channels, channels/groupcommit, ahp, ahp/mark, a JSON Schema
// validator, and segmentio/asm for base64 and UTF-8.
package canvas
