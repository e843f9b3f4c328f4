package ahp

// Direction says which peer may send a method.
type Direction uint8

// The directions of a method. They can be combined.
const (
	ClientToHost Direction = 1 << iota // clients may send it
	HostToClient                       // the host may send it
)

// Scope says what an absent channel member means.
type Scope uint8

const (
	// ChannelScoped methods act on the channel that they name. An absent channel is
	// an InvalidParams error.
	ChannelScoped Scope = iota
	// ConnectionScoped methods act on the root channel, whether or not they name it.
	// At least one released client omits it in reconnect.
	ConnectionScoped
)

// MethodInfo describes a method without its Go types.
type MethodInfo struct {
	// Name is the method's name in a message.
	Name string
	// Direction is who may send it.
	Direction Direction
	// Scope says what an absent channel means.
	Scope Scope
	// Notification marks a method that is never answered.
	Notification bool
	// Safe marks a method that changes nothing. A client may repeat it when the connection
	// ended before the answer.
	Safe bool
}

// Method is a request with the types of its params and its result.
type Method[P, R any] struct{ MethodInfo }

// NewMethod declares a channel-scoped request.
func NewMethod[P, R any](name string, dir Direction) Method[P, R] {
	return Method[P, R]{MethodInfo{Name: name, Direction: dir}}
}

// NewConnectionMethod declares a connection-scoped request.
func NewConnectionMethod[P, R any](name string, dir Direction) Method[P, R] {
	return Method[P, R]{MethodInfo{Name: name, Direction: dir, Scope: ConnectionScoped}}
}

// ChangesNothing returns the method as one that a client may repeat.
func (m Method[P, R]) ChangesNothing() Method[P, R] {
	m.Safe = true
	return m
}

// Notification is a method without an answer, with the type of its params.
type Notification[P any] struct{ MethodInfo }

// NewNotification declares a notification.
func NewNotification[P any](name string, dir Direction) Notification[P] {
	return Notification[P]{MethodInfo{Name: name, Direction: dir, Notification: true}}
}

// None is the result of methods that answer null. It encodes as null and decodes
// from any value.
type None struct{}

// MarshalJSON returns null. Clients wait forever for a response without a result
// member.
func (None) MarshalJSON() ([]byte, error) { return Null, nil }

// UnmarshalJSON accepts anything.
func (*None) UnmarshalJSON([]byte) error { return nil }
