package canvas

import "context"

// store makes flows durable before they are visible (canvas.md section 3): it is
// asked when the provider has answered and before anything is published. No lock
// is held, so it may wait for a disk; its error ends an open as if the provider
// had failed. This host has only memory; a store that outlives it takes this place.
type store interface {
	// opened keeps an instance with what it was opened with and answers.
	opened(ctx context.Context, k key, o *opening, answer Opened) error
	// closed forgets an instance. A person waits for it to be gone, so its
	// failure is logged and the canvas is closed all the same.
	closed(ctx context.Context, k key) error
}

// memory keeps nothing beyond the instances themselves.
type memory struct{}

func (memory) opened(context.Context, key, *opening, Opened) error { return nil }
func (memory) closed(context.Context, key) error                   { return nil }
