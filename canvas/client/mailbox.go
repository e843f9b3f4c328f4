package client

import (
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// mailbox queues the messages of Views for an instance, which receives them one
// at a time, in order, in a goroutine that exists while there are any. Unlike a
// host, a client cannot refuse a message: it drops those above the limit.
type mailbox struct {
	i *instance

	mu      sync.Mutex
	queue   []viewMessage
	bytes   int // queued and being received
	dropped int
	running bool
}

type viewMessage struct {
	from    canvas.View
	payload ahp.Value
}

// The limit of a mailbox, and what a message counts in addition to its payload.
const (
	mailboxBytes = 1 << 20
	messageCost  = 256
)

func (m viewMessage) size() int { return len(m.payload) + messageCost }

// put queues a message. It is called under the client's mutex.
func (b *mailbox) put(from canvas.View, payload ahp.Value) {
	m := viewMessage{from, payload}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes+m.size() > mailboxBytes {
		b.dropped++
		return
	}
	b.queue, b.bytes = append(b.queue, m), b.bytes+m.size()
	if !b.running {
		b.running = true
		b.i.c.work.Go(b.run)
	}
}

func (b *mailbox) run() {
	for {
		m, dropped, ok := b.take()
		if dropped > 0 {
			b.i.c.opts.Logger.Warn("the provider is too slow: messages of Views were dropped", "id", b.i.key.instance, "count", dropped)
		}
		if !ok {
			return
		}
		if to := b.i.messenger(); to != nil {
			to.Message(b.i.ctx, m.from, m.payload)
		}
		b.mu.Lock()
		b.bytes -= m.size()
		b.mu.Unlock()
	}
}

func (b *mailbox) take() (m viewMessage, dropped int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	dropped, b.dropped = b.dropped, 0
	if len(b.queue) == 0 || b.i.ctx.Err() != nil {
		b.queue, b.bytes, b.running = nil, 0, false
		return m, dropped, false
	}
	m = b.queue[0]
	b.queue[0] = viewMessage{}
	b.queue = b.queue[1:]
	return m, dropped, true
}
