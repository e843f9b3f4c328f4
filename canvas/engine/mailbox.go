package engine

import (
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// mailbox queues what Views send to a server-side instance and delivers it one letter
// at a time, in the order of the log, by one goroutine that runs while there are
// letters. It is bounded in bytes, which are reserved before a message is accepted, so
// an accepted message is never dropped for lack of space.
type mailbox struct {
	tasks *tasks
	life  *lifetime // of the handle: over when the instance ends
	limit int

	mu      sync.Mutex
	target  canvas.Messenger // nil drops all letters: the instance takes no messages
	queue   []letter
	bytes   int // reserved, queued and being delivered
	gone    map[channels.ConnID]bool
	running bool
	closed  bool
}

// letter is a message of a View, or the report that the View is gone.
type letter struct {
	from    canvas.View
	payload ahp.Value // nil: the View is gone
	size    int
}

// letterOverhead is what a letter counts in addition to its payload, in bytes.
const letterOverhead = 256

func newMailbox(t *tasks, l *lifetime, limit int, target canvas.Messenger) *mailbox {
	return &mailbox{tasks: t, life: l, limit: limit, target: target}
}

// redirect delivers further letters to another target.
func (m *mailbox) redirect(target canvas.Messenger) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.target = target
}

// reserve reserves space for a payload. It returns false if there is none.
func (m *mailbox) reserve(payload ahp.Value) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := len(payload) + letterOverhead
	if m.bytes+size > m.limit {
		return false
	}
	m.bytes += size
	return true
}

// message queues a payload whose space was reserved.
func (m *mailbox) message(from canvas.View, payload ahp.Value) {
	m.put(letter{from: from, payload: payload, size: len(payload) + letterOverhead})
}

// viewGone queues the report that a View is gone. It needs no space: a View that sent
// nothing since its last report is not reported again, so there are at most as many
// reports as messages and connections.
func (m *mailbox) viewGone(from canvas.View) { m.put(letter{from: from}) }

func (m *mailbox) put(l letter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.target == nil {
		m.bytes -= l.size
		return
	}
	if l.payload == nil && m.gone[l.from.Conn] {
		return
	}
	if l.payload == nil {
		if m.gone == nil {
			m.gone = map[channels.ConnID]bool{}
		}
		m.gone[l.from.Conn] = true
	} else {
		delete(m.gone, l.from.Conn)
	}
	m.queue = append(m.queue, l)
	if !m.running {
		m.running = m.tasks.start(m.run)
	}
}

func (m *mailbox) run() {
	for {
		l, target, ok := m.take()
		if !ok {
			return
		}
		if l.payload == nil {
			target.ViewGone(l.from)
		} else {
			target.Message(m.life.context(), l.from, l.payload)
		}
		m.delivered(l)
	}
}

func (m *mailbox) take() (letter, canvas.Messenger, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.target == nil || len(m.queue) == 0 {
		m.queue, m.running = nil, false
		return letter{}, nil, false
	}
	l := m.queue[0]
	m.queue = m.queue[1:]
	return l, m.target, true
}

func (m *mailbox) delivered(l letter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes -= l.size
	if l.payload == nil {
		delete(m.gone, l.from.Conn)
	}
}

// close drops what was not delivered: the instance has ended.
func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.queue = true, nil
}
