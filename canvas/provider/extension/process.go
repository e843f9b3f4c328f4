package extension

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	program "github.com/ahp-canvas/ahp-canvas/canvas/process"
)

// process is one run of an extension. It exits on its own or because of end. A lost
// process is not used for further requests; an over process has released its
// resources.
type process struct {
	worker   *worker
	child    *program.Process
	wire     *wire
	conn     *jsonrpc2.Conn
	slots    chan struct{} // holds one element per unanswered request
	timeouts atomic.Int32  // consecutive requests that timed out

	lost     chan struct{} // closed when the process is of no use any more
	over     chan struct{} // closed when its resources are released
	declared chan struct{} // closed after the process has declared its canvases

	exit error // the leader's exit status; set before over is closed

	mu          sync.Mutex
	cause       error // why the process is lost; io.EOF if exit has the reason
	isLost      bool
	hasDeclared bool // declared is closed
}

// launch starts a process. Its error is meant for users.
func (w *worker) launch() (*process, error) {
	r := w.ext.runner
	p := &process{
		worker: w, slots: make(chan struct{}, maxCalls),
		lost: make(chan struct{}), over: make(chan struct{}), declared: make(chan struct{}),
	}
	cmd := exec.Command(r.opts.Node, w.ext.folder.main)
	cmd.Dir = w.ext.folder.Dir
	cmd.Env = append(r.environment(), "SESSION_ID="+w.id)
	child, err := program.Start(cmd, r.starter, w.ext.log)
	if err != nil {
		return nil, notStarted(r.opts.Node, err)
	}
	p.child = child
	w.ext.log.Note("process %d started for session %s", child.PID(), w.id)
	p.wire = newWire(newFrames(child.Stdout, child.Keep), child.Stdin, p.markLost)
	p.conn = jsonrpc2.NewConn(context.Background(), p.wire, handler{p}, jsonrpc2.SetLogger(noLog{}))
	go p.wait()
	return p, nil
}

// notStarted explains why a process could not be started.
func notStarted(node string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("program %q, which runs extensions, is not on the PATH: install Node.js 22 or newer (%w)", node, exec.ErrNotFound)
	}
	return fmt.Errorf("it could not be started: %w", err)
}

// markLost marks the process lost. The first reason is kept, except that errFraming
// replaces io.EOF because it explains more.
func (p *process) markLost(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isLost {
		if errors.Is(p.cause, io.EOF) && errors.Is(why, errFraming) {
			p.cause = why
		}
		return
	}
	p.isLost, p.cause = true, why
	close(p.lost)
}

// wait waits for the leader, kills its remaining children, and releases all
// resources.
func (p *process) wait() {
	p.exit = p.child.Wait(func() { p.markLost(io.EOF) })
	<-p.wire.read
	<-p.wire.done
	p.child.Release()
	p.worker.ext.log.Note("process %d: %s", p.child.PID(), p.reason())
	close(p.over)
}

// markDeclared records that the process has declared its canvases.
func (p *process) markDeclared() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.hasDeclared {
		p.hasDeclared = true
		close(p.declared)
	}
}

// end ends the process and its children and waits until the process is over. Unless
// the process is already lost, end first closes its standard input and lets it exit.
func (p *process) end() {
	defer func() { <-p.over }()
	select {
	case <-p.child.Exited():
		return // wait ends the children
	default:
	}
	var closeInput func()
	select {
	case <-p.lost:
	default:
		closeInput = func() {
			p.markLost(errEnded)
			_ = p.conn.Close() // also closes its standard input
		}
	}
	p.child.End(closeInput)
}

// errEnded is the reason of a process that the host ended on purpose.
var errEnded = errors.New("the host ended it")

// reason returns why the process ended, in a few words.
func (p *process) reason() string {
	p.mu.Lock()
	cause := p.cause
	p.mu.Unlock()
	switch {
	case cause != nil && !errors.Is(cause, io.EOF):
		return cause.Error()
	case p.exit == nil:
		return "it ended"
	}
	return "it ended with " + p.exit.Error()
}

// exitError returns why the process ended, with the end of its output. It must only be
// called when the process is over.
func (p *process) exitError() error {
	text := p.reason()
	if last := p.child.LastWords(); last != "" {
		text += ". Its last output:\n" + last
	}
	return errors.New(strings.TrimSpace(text))
}

// noLog discards jsonrpc2's log, which otherwise goes to standard error.
type noLog struct{}

func (noLog) Printf(string, ...any) {}
