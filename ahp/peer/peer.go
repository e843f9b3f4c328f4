package peer

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Handler is told of everything that the other side asks for.
//
// Handle is called in the order of arrival, one call at a time per connection,
// and must not wait: not for the other side, not for a disk. What has to wait
// goes through [Request.Go]. Every request is answered exactly once, by Reply
// or Fail; one that Handle returns from unanswered, without Go, is answered
// with CodeInternal. ctx ends with the connection.
type Handler interface {
	Handle(ctx context.Context, req *Request)
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, req *Request)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, req *Request) { f(ctx, req) }

// EndHandler is a Handler that wants to know of the end. Closed is called once,
// after the last Handle, when the connection has ended. It runs on a goroutine of
// the peer, so that nobody needs to park one on Done; Wait waits for it.
type EndHandler interface {
	Handler
	Closed(err error)
}

// Options are a peer's limits; the zero value has the defaults of canvas.md
// section 8, which stand beside the fields.
type Options struct {
	// Logger is told of unexpected failures, with the keys client, method, id
	// and err, never of payloads. Nil discards.
	Logger *slog.Logger

	// Prompt says that Handle waits for nothing but short locks, whoever is on the
	// other side. The reader then calls it itself: that saves the wake of another
	// thread at each message, and puts what is handled and the answers to calls
	// (see [Peer.CallThen]) into one order. What Handle holds up is the reading.
	Prompt bool

	// Before is called before a frame that is one peer's alone is queued (an answer,
	// a call, the end), so that what was published to many before can be pushed
	// first. Like Push it must not wait, and may come under the caller's locks.
	Before func()

	// QueueBytes bounds what waits to be written, exempt frames apart (8 MiB).
	QueueBytes int
	// InboxMessages and InboxBytes bound what waits to be handled (4,096; 16 MiB, at most 2 GiB);
	// the same bytes bound the requests that Go has taken, and those of GoContent.
	InboxMessages, InboxBytes int
	// MessageRate is how many messages a second the other side may send on
	// average, MessageBurst how many at once (4 seconds' worth). A zero rate is
	// no limit but the inbox's.
	MessageRate  float64
	MessageBurst int
	// MaxNodes and MaxDepth bound one message's JSON (16,384; 64). Negative
	// MaxNodes is no limit: a client that trusts its host reads large states.
	MaxNodes, MaxDepth int

	// CallTimeout is the time from sending a call to its answer (30 s).
	CallTimeout time.Duration
	// Calls is how many calls may be in flight (32), CallQueue how many more
	// may wait (4,096), Abandoned how many unanswered ones are forgiven before
	// the connection is closed (64).
	Calls, CallQueue, Abandoned int

	// Tasks is how many Go functions run at once (32), Contents how many
	// GoContent ones (2), TaskQueue how many of each may wait (1,024).
	Tasks, Contents, TaskQueue int

	// FlushTimeout bounds how long Close waits for the queue (5 s).
	FlushTimeout time.Duration
}

// limits are the limits of one message.
func (o *Options) limits() scan.Limits {
	return scan.Limits{Depth: o.MaxDepth, Values: o.MaxNodes, Uncounted: "inputSchema"}
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Before == nil {
		o.Before = func() {}
	}
	o.QueueBytes = cmp.Or(o.QueueBytes, 8<<20)
	o.InboxMessages = cmp.Or(o.InboxMessages, 4096)
	o.InboxBytes = min(cmp.Or(o.InboxBytes, 16<<20), math.MaxInt32)
	o.MessageBurst = cmp.Or(o.MessageBurst, int(4*o.MessageRate), 1)
	o.MaxNodes = cmp.Or(o.MaxNodes, 16384)
	o.MaxDepth = cmp.Or(o.MaxDepth, 64)
	o.CallTimeout = cmp.Or(o.CallTimeout, 30*time.Second)
	o.Calls = cmp.Or(o.Calls, 32)
	o.CallQueue = cmp.Or(o.CallQueue, 4096)
	o.Abandoned = cmp.Or(o.Abandoned, 64)
	o.Tasks = cmp.Or(o.Tasks, 32)
	o.Contents = cmp.Or(o.Contents, 2)
	o.TaskQueue = cmp.Or(o.TaskQueue, 1024)
	o.FlushTimeout = cmp.Or(o.FlushTimeout, 5*time.Second)
	return o
}

// Peer is the other side of one connection. All methods may be called from
// anywhere; Push, Close and the answers of a [Request] never wait and take only
// a leaf lock, so they may be called under the caller's locks.
type Peer struct {
	out  outbox // first, with conn: a push to many peers reads memory that no cache has
	conn *ws.Conn
	opts *Options
	wg   sync.WaitGroup // runner, writer, tasks

	h     Handler
	rpc   *jsonrpc2.Conn
	in    inbox
	tasks lane
	reads lane
	calls calls
	stats stats

	wanted wanted

	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // made by who first needs it; guarded by the inbox's lock
}

// Stats counts what is deliberately not answered.
type Stats struct {
	// UnreadableNotifications were dropped: nothing may answer them.
	UnreadableNotifications uint64
	// LateAnswers belong to no call, or to one that gave up.
	LateAnswers uint64
}

type stats struct{ unreadable, late atomic.Uint32 } // of one connection

// New makes a peer of a connection, which it owns from now on. Nothing is read
// before Start, so that the handler can be given the Peer; Push works at once.
func New(conn *ws.Conn, h Handler, opts Options) *Peer { return opts.Limits().New(conn, h) }

// Limits are Options with their defaults, for any number of peers, which share
// them: an idle connection holds no copy.
type Limits struct{ opts Options }

// Limits returns the options to make many peers with.
func (o Options) Limits() *Limits { return &Limits{o.withDefaults()} }

// New is the package's New.
func (l *Limits) New(conn *ws.Conn, h Handler) *Peer {
	p := &Peer{conn: conn, h: h, opts: &l.opts}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.in.rate = newBucket(l.opts.MessageRate, l.opts.MessageBurst)
	return p
}

// Start begins to read. It is called once, before the first Call.
func (p *Peer) Start() {
	s := &stream{p: p}
	s.started.Add(1)
	defer s.started.Done()
	p.wg.Add(1) // until the reader's end has been handled
	// The library makes a context of its own; a child of ours would cost a table
	// and end the stream behind the reader's back.
	p.rpc = jsonrpc2.NewConn(context.Background(), s, noHandler{}, jsonrpc2.OnSend(s.onSend), jsonrpc2.OnRecv(s.onRecv), jsonrpc2.SetLogger(noLog{}))
}

// SetReadLimit changes how large a message may be, in bytes (see package ws).
func (p *Peer) SetReadLimit(n int64) { p.conn.SetReadLimit(n) }

// Close ends the connection once what is queued has been written, or
// Options.FlushTimeout is over. It returns at once; nothing can be pushed any
// more.
func (p *Peer) Close(code ws.CloseCode, reason string) {
	p.opts.Before()
	if p.out.drain(func() { p.conn.Close(code, reason) }) {
		time.AfterFunc(p.opts.FlushTimeout, func() { p.conn.Close(code, reason) })
		return
	}
	p.conn.Close(code, reason)
}

// abort ends the connection now; what is queued is lost, and reconnect heals it.
func (p *Peer) abort(code ws.CloseCode, reason string) {
	p.out.stop()
	p.conn.Close(code, reason)
}

// Done is closed when the connection has ended and Handle will not be called
// again.
func (p *Peer) Done() <-chan struct{} {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	return p.end()
}

// end returns the channel that Done returns, under the inbox's lock.
func (p *Peer) end() chan struct{} {
	if p.done == nil {
		p.done = make(chan struct{})
	}
	return p.done
}

// Err returns why the connection ended, a *[ws.CloseError], or nil.
func (p *Peer) Err() error { return p.conn.Err() }

// Wait returns when everything has stopped: socket, reader, writer, handlers and
// tasks. Somebody must have closed the connection; a task that ignores its
// context is waited for.
func (p *Peer) Wait() {
	p.wg.Wait()
	p.conn.Wait()
}

// Stats returns the counters.
func (p *Peer) Stats() Stats {
	return Stats{UnreadableNotifications: uint64(p.stats.unreadable.Load()), LateAnswers: uint64(p.stats.late.Load())}
}

// readEnded runs on the reader, last. Calls have failed already. What was read
// before is still handled, in order, and then Closed is called.
func (p *Peer) readEnded() {
	p.cancel()
	p.out.stop()
	p.tasks.stop()
	p.reads.stop()
	p.in.end(p)
	p.wg.Done()
}

// finish is the runner's last act.
func (p *Peer) finish() {
	if h, ok := p.h.(EndHandler); ok {
		h.Closed(p.Err())
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	close(p.end())
}
