package budget

// Kind says what bytes are held for.
type Kind uint8

// The kinds.
const (
	Frames  Kind = iota // messages that are being received or wait to be handled
	Queues              // messages that wait to be sent
	Replies             // snapshots that wait to be sent
	Content             // content that is being read or sent
	Schemas             // compiled schemas
	Clients             // subscriptions, and clients that are remembered
	State               // what clients keep in sessions
	Replay              // entries that are kept for replay
	Cache               // encoded content that is kept for the next reader
	Saved               // what providers save for open canvases
	Events              // events that wait for agents
	kinds
)

var names = [kinds]string{"frames", "queues", "replies", "content", "schemas", "clients", "state", "replay", "cache", "saved", "events"}

// String returns the name of the kind, for metrics.
func (k Kind) String() string { return names[k] }

// Kinds returns all kinds.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for k := range all {
		all[k] = Kind(k)
	}
	return all
}

// parts says which part of the budget a kind may have, as a divisor.
var parts = [kinds]int64{Frames: 4, Queues: 2, Replies: 4, Content: 4, Schemas: 8, Clients: 16, State: 4, Replay: 8, Cache: 8, Saved: 8, Events: 16}
