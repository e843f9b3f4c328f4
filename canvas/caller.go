package canvas

import "context"

type callerKey struct{}

// WithCaller returns a context for a call of the agent whose token has a name; "" stands
// for the agents whose token has none.
func WithCaller(ctx context.Context, name string) context.Context {
	if name == "" {
		return ctx
	}
	return context.WithValue(ctx, callerKey{}, name)
}

// Caller returns the name of the calling agent's token, "" if it has none. Providers use it
// in Open and Invoke to keep what different agents see apart.
func Caller(ctx context.Context) string {
	name, _ := ctx.Value(callerKey{}).(string)
	return name
}
