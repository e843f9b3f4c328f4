package ahp

// Direction says which peer may send a method.
type Direction uint8

// The directions of a method. A method that both peers may send has both bits.
const (
	ClientToHost Direction = 1 << iota
	HostToClient
)

// Scope says where a method's channel member comes from when it is absent.
type Scope uint8

const (
	// ChannelScoped methods name the channel that they act on; an absent
	// channel is an InvalidParams error.
	ChannelScoped Scope = iota
	// ConnectionScoped methods are sent to the root channel; an absent channel
	// means that (at least one shipped client leaves it out of reconnect).
	ConnectionScoped
)

// MethodInfo is the untyped half of a method: what tables and tools read.
type MethodInfo struct {
	Name         string
	Direction    Direction
	Scope        Scope
	Notification bool // no answer, ever
	Capability   string
}

// Method is a request with the types of its params and result. The zero-size
// generic facade is all that call sites see; routing is by name.
type Method[P, R any] struct{ MethodInfo }

// NewMethod declares a channel-scoped request.
func NewMethod[P, R any](name string, dir Direction) Method[P, R] {
	return Method[P, R]{MethodInfo{Name: name, Direction: dir}}
}

// NewConnectionMethod declares a request of the connection itself.
func NewConnectionMethod[P, R any](name string, dir Direction) Method[P, R] {
	return Method[P, R]{MethodInfo{Name: name, Direction: dir, Scope: ConnectionScoped}}
}

// Notification is a message without an answer, with the type of its params.
type Notification[P any] struct{ MethodInfo }

// NewNotification declares a notification.
func NewNotification[P any](name string, dir Direction) Notification[P] {
	return Notification[P]{MethodInfo{Name: name, Direction: dir, Notification: true}}
}

// None is the result of methods that answer null. It encodes as null and
// accepts any value.
type None struct{}

// MarshalJSON writes null: a response without a result member hangs clients.
func (None) MarshalJSON() ([]byte, error) { return Null, nil }

// UnmarshalJSON accepts anything.
func (*None) UnmarshalJSON([]byte) error { return nil }
