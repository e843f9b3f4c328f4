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

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// Handler receives the requests and notifications of the other side.
type Handler interface {
	// Handle handles one of them. It is called in the order of arrival, one call at a
	// time per connection. It must not wait, neither for the other side nor for a
	// disk; [Request.Go] is for work that waits. Each request gets one answer. If
	// Handle returns without an answer and without Go, the answer is CodeInternal.
	// ctx ends with the connection.
	Handle(ctx context.Context, req *Request)
}

// HandlerFunc is a function that implements Handler.
type HandlerFunc func(ctx context.Context, req *Request)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, req *Request) { f(ctx, req) }

// AdmitHandler is a Handler that decides how fast the other side may send.
type AdmitHandler interface {
	Handler
	// Admit is called on the reader with each message before it is queued. While Admit
	// waits, nothing is read. An error refuses the message: it is the answer of a
	// request, and [Request.Limited] of a notification. ctx ends with the connection.
	Admit(ctx context.Context, req *Request) *ahp.Error
}

// EndHandler is a Handler that is notified of the connection's end.
type EndHandler interface {
	Handler
	// Closed is called once, after the last Handle. err is what [Peer.Err] returns. It
	// runs on a goroutine of the peer, and Wait waits for it.
	Closed(err error)
}

// Options configure a peer. Zero values mean the defaults, which are given in
// parentheses (ahp/PROTOCOL.md section 13).
type Options struct {
	// Logger logs unexpected failures, with the keys client, method, id and err, but
	// never payloads (none).
	Logger *slog.Logger

	// HandleOnReader makes the reader call Handle. It requires that Handle waits only
	// for short locks. It saves waking another thread for each message, and puts
	// requests and the results of [Peer.CallThen] into one order. Nothing is read while
	// Handle runs.
	HandleOnReader bool

	// FlushShared is called before the peer queues a frame for itself alone (an answer,
	// a call, the end). It pushes frames that were published to many peers before and
	// are not queued yet. Like Push it must not wait, and can be called under the
	// caller's locks (nothing).
	FlushShared func()

	// QueueBytes limits the bytes that wait to be written, except answers to
	// initialize, reconnect and subscribe (8 MiB).
	QueueBytes int
	// Replies limits the answers to initialize, reconnect and subscribe that wait to be
	// written: the reader waits while there are more (16).
	Replies int
	// InboxMessages limits the messages that wait to be handled (4,096).
	InboxMessages int
	// InboxBytes limits the bytes of messages that wait to be handled, and also those
	// of the requests of Go and of GoContent (16 MiB, at most 2 GiB).
	InboxBytes int
	// MessageRate limits the messages per second that the other side may send on
	// average (no limit).
	MessageRate float64
	// MessageBurst limits the messages that it may send at once (4 s of MessageRate).
	MessageBurst int
	// MaxValues limits the JSON values of a message (16,384). A negative number is no
	// limit, for a client that trusts its host with large states.
	MaxValues int
	// MaxDepth limits the nesting of a message (64).
	MaxDepth int

	// CallTimeout is how long a call waits for its answer after sending (30 s).
	CallTimeout time.Duration
	// Calls limits the calls in flight (32).
	Calls int
	// CallQueue limits the calls that wait to be sent (4,096).
	CallQueue int
	// Abandoned limits the calls that the other side leaves unanswered before the
	// connection is closed (64).
	Abandoned int

	// Tasks limits how many functions of Go run at once (32).
	Tasks int
	// Contents limits how many functions of GoContent run at once for one canvas (2).
	Contents int
	// AllContents limits how many functions of GoContent run at once for all canvases
	// (8).
	AllContents int
	// TaskQueue limits how many functions of Go wait, and how many of GoContent
	// (1,024).
	TaskQueue int

	// FlushTimeout is how long Close waits for the queue to be written (5 s).
	FlushTimeout time.Duration
}

// limits returns the limits of one message.
func (o *Options) limits() scan.Limits {
	return scan.Limits{Depth: o.MaxDepth, Values: o.MaxValues, Uncounted: "inputSchema"}
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.FlushShared == nil {
		o.FlushShared = func() {}
	}
	o.QueueBytes = cmp.Or(o.QueueBytes, 8<<20)
	o.Replies = cmp.Or(o.Replies, 16)
	o.InboxMessages = cmp.Or(o.InboxMessages, 4096)
	o.InboxBytes = min(cmp.Or(o.InboxBytes, 16<<20), math.MaxInt32)
	o.MessageBurst = cmp.Or(o.MessageBurst, int(4*o.MessageRate), 1)
	o.MaxValues = cmp.Or(o.MaxValues, 16384)
	o.MaxDepth = cmp.Or(o.MaxDepth, 64)
	o.CallTimeout = cmp.Or(o.CallTimeout, 30*time.Second)
	o.Calls = cmp.Or(o.Calls, 32)
	o.CallQueue = cmp.Or(o.CallQueue, 4096)
	o.Abandoned = cmp.Or(o.Abandoned, 64)
	o.Tasks = cmp.Or(o.Tasks, 32)
	o.Contents = cmp.Or(o.Contents, 2)
	o.AllContents = cmp.Or(o.AllContents, 8)
	o.TaskQueue = cmp.Or(o.TaskQueue, 1024)
	o.FlushTimeout = cmp.Or(o.FlushTimeout, 5*time.Second)
	return o
}

// Peer is one end of a connection. Its methods may be called concurrently. Push,
// Close and the answers of a [Request] never wait and take only a leaf lock, so they
// may be called while the caller holds locks.
type Peer struct {
	out  outbox // first, to share cache lines with the connection: a push to many peers finds them in no cache
	conn *ws.Conn
	wg   sync.WaitGroup // reader, runner, tasks

	h        Handler
	rpc      *jsonrpc2.Conn
	in       inbox
	tasks    taskQueue
	contents taskQueue
	calls    calls
	stats    stats

	payloads payloadTable

	ctx  lifetime
	done chan struct{} // nil until it is needed; guarded by the inbox's lock
}

// Stats counts messages that were dropped without an answer.
type Stats struct {
	// UnreadableNotifications is how many notifications were invalid.
	UnreadableNotifications uint64
	// LateAnswers is how many answers belonged to no call, or to one that had ended.
	LateAnswers uint64
}

// stats are a connection's counters.
type stats struct{ unreadable, late atomic.Uint32 }

// New returns a peer that owns conn. It reads nothing before Start, so that the
// handler can be given the Peer first. Push works at once.
func New(conn *ws.Conn, h Handler, opts Options) *Peer { return opts.Limits().New(conn, h, nil) }

// Limits are Options with their defaults filled in. Peers share them, so that an idle
// connection holds no copy.
type Limits struct{ opts Options }

// Limits returns o with its defaults filled in.
func (o Options) Limits() *Limits { return &Limits{o.withDefaults()} }

// New returns a peer that owns conn, as the package's New does. What the connection holds
// is counted in account, which may be nil.
func (l *Limits) New(conn *ws.Conn, h Handler, account *budget.Account) *Peer {
	p := &Peer{conn: conn, h: h, out: outbox{conn: conn, opts: &l.opts, holding: holding{account: account}}}
	return p
}

// Start starts the reader. It must be called once, before the first Call.
func (p *Peer) Start() {
	s := &stream{p: p}
	s.started.Add(1)
	defer s.started.Done()
	p.wg.Add(1) // until readEnded has run
	// The library makes a context anyway. A child of p.ctx would need a table, and
	// would end the stream while the reader still runs.
	p.rpc = jsonrpc2.NewConn(context.Background(), s, noHandler{}, jsonrpc2.OnSend(s.onSend), jsonrpc2.OnRecv(s.onRecv), jsonrpc2.SetLogger(noLog{}))
}

// SetReadLimit changes the most bytes that a message may have (see package ws).
func (p *Peer) SetReadLimit(n int64) { p.conn.SetReadLimit(n) }

// Close ends the connection once the queued frames have been written, or after
// Options.FlushTimeout. It returns at once. Later pushes do nothing.
func (p *Peer) Close(code ws.CloseCode, reason string) {
	p.out.opts.FlushShared()
	if p.out.drain(func() { p.conn.Close(code, reason) }) {
		time.AfterFunc(p.out.opts.FlushTimeout, func() { p.conn.Close(code, reason) })
		return
	}
	p.conn.Close(code, reason)
}

// Abort ends the connection at once and drops the queued frames. It may be called under
// the caller's locks.
func (p *Peer) Abort(code ws.CloseCode, reason string) { p.out.abort(code, reason) }

// Alive reports whether the other end has received or sent anything within a time.
func (p *Peer) Alive(within time.Duration) bool { return p.conn.Alive(within) }

// Probe closes the connection if its other end does not answer a ping within a time.
func (p *Peer) Probe(within time.Duration) { p.conn.Probe(within) }

// Done returns a channel that is closed when the connection has ended and Handle
// will not be called again.
func (p *Peer) Done() <-chan struct{} {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	return p.end()
}

// end returns the channel of Done. The caller holds the inbox's lock.
func (p *Peer) end() chan struct{} {
	if p.done == nil {
		p.done = make(chan struct{})
	}
	return p.done
}

// Err returns why the connection ended, as a *[ws.CloseError]. It is nil while the
// connection is open.
func (p *Peer) Err() error { return p.conn.Err() }

// Wait waits until the socket, the reader, the writer, handlers and tasks have
// stopped. It does not close the connection. A task that ignores its context
// delays it.
func (p *Peer) Wait() {
	p.wg.Wait()
	p.out.writers.Wait() // no writer begins after the reader has ended
	p.conn.Wait()
}

// Stats returns the counters.
func (p *Peer) Stats() Stats {
	return Stats{UnreadableNotifications: uint64(p.stats.unreadable.Load()), LateAnswers: uint64(p.stats.late.Load())}
}

// readEnded is the reader's last step. Calls have failed before. The requests in the
// inbox are still handled, and then Closed is called.
func (p *Peer) readEnded() {
	p.ctx.cancel()
	p.out.stop()
	p.tasks.stop()
	p.contents.stop()
	p.in.end(p)
	p.wg.Done()
}

// finish is the runner's last step.
func (p *Peer) finish() {
	if h, ok := p.h.(EndHandler); ok {
		h.Closed(p.Err())
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	close(p.end())
}
