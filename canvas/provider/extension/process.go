package extension

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	closeGrace   = 500 * time.Millisecond // from closing standard input to SIGTERM
	termGrace    = 2 * time.Second        // from SIGTERM to SIGKILL
	drainTimeout = time.Second            // for reading the remaining output of a dead process
)

// process is one run of an extension. It exits on its own or because of end. A lost
// process is not used for further requests; an over process has released its
// resources.
type process struct {
	worker   *worker
	cmd      *exec.Cmd
	group    *group   // cmd and its children
	stdin    *os.File // the host's ends of the process's streams
	stdout   *os.File
	stderr   *os.File
	wire     *wire
	conn     *jsonrpc2.Conn
	output   outputTail
	slots    chan struct{} // holds one element per unanswered request
	timeouts atomic.Int32  // consecutive requests that timed out

	lost     chan struct{} // closed when the process is of no use any more
	over     chan struct{} // closed when its resources are released
	exited   chan struct{} // closed after Wait has returned for the leader
	declared chan struct{} // closed after the process has declared its canvases

	drained chan struct{} // closed at the end of standard error

	exit error // the leader's exit status; set before exited is closed

	mu          sync.Mutex
	cause       error // why the process is lost; io.EOF if exit has the reason
	isLost      bool
	hasDeclared bool // declared is closed
}

// launch starts a process. Its error is meant for users.
func (w *worker) launch() (*process, error) {
	r := w.ext.runner
	p := &process{
		worker: w, group: &group{}, slots: make(chan struct{}, maxCalls),
		lost: make(chan struct{}), over: make(chan struct{}), exited: make(chan struct{}),
		declared: make(chan struct{}), drained: make(chan struct{}),
	}
	p.cmd = exec.Command(r.opts.Node, w.ext.folder.main)
	p.cmd.Dir = w.ext.folder.Dir
	p.cmd.Env = append(r.environment(), "SESSION_ID="+w.id)
	if err := p.start(r.starter); err != nil {
		return nil, notStarted(r.opts.Node, err)
	}
	w.ext.log.note("process %d started for session %s", p.cmd.Process.Pid, w.id)
	go p.drain()
	p.wire = newWire(newFrames(p.stdout, p.keepOutput), p.stdin, p.markLost)
	p.conn = jsonrpc2.NewConn(context.Background(), p.wire, handler{p}, jsonrpc2.SetLogger(noLog{}))
	go p.wait()
	return p, nil
}

// start creates the pipes and starts the process.
func (p *process) start(s *starter) (err error) {
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			if f != nil {
				_ = f.Close()
			}
		}
		if err != nil {
			p.closePipes()
		}
	}()
	if theirs[0], p.stdin, err = os.Pipe(); err != nil {
		return err
	}
	if p.stdout, theirs[1], err = os.Pipe(); err != nil {
		return err
	}
	if p.stderr, theirs[2], err = os.Pipe(); err != nil {
		return err
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	return p.group.start(p.cmd, s.start)
}

func (p *process) closePipes() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// notStarted explains why a process could not be started.
func notStarted(node string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("program %q, which runs extensions, is not on the PATH: install Node.js", node)
	}
	return fmt.Errorf("it could not be started: %w", err)
}

// drain reads standard error, so that the process never blocks on it.
func (p *process) drain() {
	defer close(p.drained)
	buf := make([]byte, 16<<10)
	for {
		n, err := p.stderr.Read(buf)
		p.keepOutput(buf[:n])
		if err != nil {
			return
		}
	}
}

// keepOutput keeps the process's text output for error messages, and logs it.
func (p *process) keepOutput(text []byte) {
	p.output.add(text)
	_, _ = p.worker.ext.log.Write(text)
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
	p.exit = p.cmd.Wait()
	close(p.exited)
	p.markLost(io.EOF)
	p.group.kill()
	_ = p.stderr.SetReadDeadline(time.Now().Add(drainTimeout))
	<-p.drained
	_ = p.stdout.SetReadDeadline(time.Now().Add(drainTimeout)) // a child that left the group can keep it open
	<-p.wire.read
	<-p.wire.done
	p.closePipes()
	p.worker.ext.log.note("process %d: %s", p.cmd.Process.Pid, p.reason())
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
	case <-p.exited:
		return // wait ends the children
	default:
	}
	select {
	case <-p.lost:
	default:
		p.markLost(errEnded)
		_ = p.conn.Close() // also closes its standard input
		if p.waitExit(closeGrace) {
			return
		}
	}
	p.group.terminate()
	if !p.waitExit(termGrace) {
		p.group.kill()
	}
}

// errEnded is the reason of a process that the host ended on purpose.
var errEnded = errors.New("the host ended it")

// waitExit waits for the leader to exit, and reports whether it did so in time.
func (p *process) waitExit(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

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
	if last := p.output.String(); last != "" {
		text += ". Its last output:\n" + last
	}
	return errors.New(strings.TrimSpace(text))
}

// noLog discards jsonrpc2's log, which otherwise goes to standard error.
type noLog struct{}

func (noLog) Printf(string, ...any) {}
