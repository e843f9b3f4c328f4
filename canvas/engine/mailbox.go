package engine

import (
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// mailbox carries what Views send to a server-side instance: one letter at a
// time, in the order of the log, by one goroutine that lives while there are
// letters. It is bounded by bytes, which are reserved before a message is
// accepted, so that an accepted message is never dropped for want of room.
type mailbox struct {
	tasks *tasks
	life  *life // of the handle: over when the instance ends
	limit int

	mu      sync.Mutex
	target  canvas.Messenger // nil: nobody listens, and letters are dropped
	queue   []letter
	bytes   int // reserved, queued and being delivered
	gone    map[channels.ConnID]bool
	running bool
	closed  bool
}

// letter is a message of a View, or the word that the View is gone.
type letter struct {
	from    canvas.View
	payload ahp.Value // nil: the View is gone
	size    int
}

// letterCost is what a letter counts for beside its payload.
const letterCost = 256

func newMailbox(t *tasks, l *life, limit int, target canvas.Messenger) *mailbox {
	return &mailbox{tasks: t, life: l, limit: limit, target: target}
}

// to gives the letters from now on to another target.
func (m *mailbox) to(target canvas.Messenger) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.target = target
}

// reserve makes room for a payload, or reports that there is none.
func (m *mailbox) reserve(payload ahp.Value) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := len(payload) + letterCost
	if m.bytes+size > m.limit {
		return false
	}
	m.bytes += size
	return true
}

// message queues a payload for which room was reserved.
func (m *mailbox) message(from canvas.View, payload ahp.Value) {
	m.put(letter{from: from, payload: payload, size: len(payload) + letterCost})
}

// viewGone queues the word that a View is gone. It needs no room: a View that
// said nothing since the last such word is not reported again, so there are no
// more of them than messages and connections.
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
