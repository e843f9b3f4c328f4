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
	askTime   = 500 * time.Millisecond // from a closed standard input to SIGTERM
	termTime  = 2 * time.Second        // from SIGTERM to SIGKILL
	drainTime = time.Second            // for what a dead process left in its standard error
)

// process is one run of an extension. It is over by itself, or by end; lost says
// that it is of no use any more, over that nothing of it is left.
type process struct {
	worker *worker
	cmd    *exec.Cmd
	group  *group   // cmd and its children
	stdin  *os.File // ours, the other ends of its streams
	stdout *os.File
	stderr *os.File
	wire   *wire
	conn   *jsonrpc2.Conn
	words  words
	slots  chan struct{} // one for each request that is not answered
	silent atomic.Int32  // requests in a row that were not answered in time

	lost     chan struct{}
	over     chan struct{}
	exited   chan struct{} // closed when the leader was waited for
	declared chan struct{} // closed when it has said its canvases

	drained chan struct{} // closed when standard error has been read

	exit error // of the leader; set before exited is closed

	mu     sync.Mutex
	cause  error // why it is lost; io.EOF where its exit says so
	isLost bool
	joined bool // declared is closed
}

// launch starts a process. The error says why there is none.
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
	p.wire = newWire(newFrames(p.stdout, p.heard), p.stdin, p.breaks)
	p.conn = jsonrpc2.NewConn(context.Background(), p.wire, handler{p}, jsonrpc2.SetLogger(noLog{}))
	go p.wait()
	return p, nil
}

// start makes the pipes and the process.
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

// notStarted says in words why there is no process.
func notStarted(node string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("there is no program %q on the PATH, which runs extensions: install Node.js", node)
	}
	return fmt.Errorf("it could not be started: %w", err)
}

// drain reads standard error, so that the process never waits for it.
func (p *process) drain() {
	defer close(p.drained)
	buf := make([]byte, 16<<10)
	for {
		n, err := p.stderr.Read(buf)
		p.heard(buf[:n])
		if err != nil {
			return
		}
	}
}

// heard keeps what the process says beside its messages.
func (p *process) heard(text []byte) {
	p.words.add(text)
	_, _ = p.worker.ext.log.Write(text)
}

// breaks says that the process is of no use any more. The first reason counts,
// but for a mere end.
func (p *process) breaks(why error) {
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

// wait waits for the leader, ends what it left behind, and lets everything go.
func (p *process) wait() {
	p.exit = p.cmd.Wait()
	close(p.exited)
	p.breaks(io.EOF)
	p.group.kill()
	_ = p.stderr.SetReadDeadline(time.Now().Add(drainTime))
	<-p.drained
	_ = p.stdout.SetReadDeadline(time.Now().Add(drainTime)) // a child that left the group may hold it
	<-p.wire.read
	<-p.wire.done
	p.closePipes()
	p.worker.ext.log.note("process %d: %s", p.cmd.Process.Pid, p.reason())
	close(p.over)
}

// joins says that the process has declared its canvases.
func (p *process) joins() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.joined {
		p.joined = true
		close(p.declared)
	}
}

// end ends the process and its children, and waits until nothing is left:
// gently, unless it is lost already.
func (p *process) end() {
	defer func() { <-p.over }()
	select {
	case <-p.exited:
		return // and wait does the rest
	default:
	}
	select {
	case <-p.lost:
	default:
		p.breaks(errEnded)
		_ = p.conn.Close() // closes its standard input
		if p.exits(askTime) {
			return
		}
	}
	p.group.terminate()
	if !p.exits(termTime) {
		p.group.kill()
	}
}

// errEnded is why a process is lost that the host ended.
var errEnded = errors.New("it was ended")

// exits waits a while for the leader.
func (p *process) exits(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// reason says in a few words why the process is no more.
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

// obituary says why the process is no more, in its own words. It is over.
func (p *process) obituary() error {
	text := p.reason()
	if last := p.words.String(); last != "" {
		text += ". Its last words:\n" + last
	}
	return errors.New(strings.TrimSpace(text))
}

// noLog keeps jsonrpc2 from writing to standard error.
type noLog struct{}

func (noLog) Printf(string, ...any) {}
