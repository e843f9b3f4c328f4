package notify

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

const (
	maxWaiting = 256              // notifications of an agent
	timeout    = 10 * time.Second // of one notification
	killDelay  = time.Second      // for a killed process to close its streams
)

// A Way delivers one notification. It must return soon after ctx is canceled.
type Way func(ctx context.Context, n Notification) error

// Notification is a record for its agent.
type Notification struct {
	// Agent is who is notified.
	Agent aap.Agent
	// Record is the path of the record's file.
	Record string
	// Line is the notification without a newline: one line without control characters.
	Line string
}

// Notifier delivers notifications in their own goroutines. Make it with [New].
type Notifier struct {
	way    Way
	logger *slog.Logger
	ctx    context.Context
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu     sync.Mutex
	queues map[string][]Notification // by agent id; an agent in it has a goroutine
	failed map[string]bool           // agents with a logged failure
}

// New returns a Notifier that works until Close. Logger may be nil.
func New(way Way, logger *slog.Logger) *Notifier {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	n := &Notifier{way: way, logger: logger, queues: map[string][]Notification{}, failed: map[string]bool{}}
	n.ctx, n.stop = context.WithCancel(context.Background())
	return n
}

// Notify has a record's agent notified. It returns at once.
func (n *Notifier) Notify(a aap.Agent, r aap.Record, line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ctx.Err() != nil {
		return
	}
	queue, running := n.queues[a.ID]
	queue = append(queue, Notification{a, a.RecordPath(r), line})
	if len(queue) > maxWaiting {
		queue = queue[1:]
	}
	n.queues[a.ID] = queue
	if !running {
		n.done.Go(func() { n.run(a.ID) })
	}
}

// Close ends what runs, and waits.
func (n *Notifier) Close() error {
	n.mu.Lock()
	n.stop()
	n.mu.Unlock()
	n.done.Wait()
	return nil
}

// run delivers an agent's notifications until none waits.
func (n *Notifier) run(id string) {
	for {
		n.mu.Lock()
		queue := n.queues[id]
		if len(queue) == 0 || n.ctx.Err() != nil {
			delete(n.queues, id)
			n.mu.Unlock()
			return
		}
		next := queue[0]
		n.queues[id] = queue[1:]
		n.mu.Unlock()
		n.deliver(id, next)
	}
}

func (n *Notifier) deliver(id string, next Notification) {
	ctx, cancel := context.WithTimeout(n.ctx, timeout)
	defer cancel()
	err := n.way(ctx, next)
	n.mu.Lock()
	report := err != nil && n.ctx.Err() == nil && !n.failed[id]
	if len(n.failed) < 4096 {
		n.failed[id] = err != nil
	}
	n.mu.Unlock()
	if report {
		n.logger.Warn("aap: an agent could not be notified", "err", err)
	}
}

// Program returns the Way that runs a program; see the package documentation.
func Program(path string) Way {
	return func(ctx context.Context, n Notification) error {
		return run(ctx, path, []string{n.Agent.ID, n.Agent.Name}, n.Line+"\n", []string{"AAP_RECORD=" + n.Record}, nil)
	}
}

// Tmux returns the Way that types into the tmux session with the agent's name. Path is
// the program tmux.
func Tmux(path string) Way {
	return func(ctx context.Context, n Notification) error {
		target := "=" + sessionName(n.Agent.Name) + ":"
		var command strings.Builder
		if err := run(ctx, path, []string{"display-message", "-p", "-t", target, "#{pane_current_command}"}, "", nil, &command); err != nil {
			return err
		}
		line := n.Line
		if isShell(strings.TrimSpace(command.String())) {
			line = "echo '" + strings.ReplaceAll(line, "'", `'\''`) + "'"
		}
		if err := run(ctx, path, []string{"send-keys", "-t", target, "-l", "--", line}, "", nil, nil); err != nil {
			return err
		}
		return run(ctx, path, []string{"send-keys", "-t", target, "Enter"}, "", nil, nil)
	}
}

// sessionName returns a name as tmux has it: a colon and a period separate the parts of a
// target, so tmux replaces them.
func sessionName(name string) string { return strings.NewReplacer(":", "_", ".", "_").Replace(name) }

// isShell reports whether a program would run a line that is typed into it.
func isShell(command string) bool {
	switch strings.TrimPrefix(command, "-") {
	case "sh", "bash", "zsh", "fish", "dash", "ash", "busybox", "ksh", "mksh", "csh", "tcsh", "nu", "xonsh", "elvish", "pwsh", "":
		return true
	}
	return false
}

// run runs a program, and kills it and its children when ctx is canceled.
func run(ctx context.Context, path string, args []string, in string, env []string, out io.Writer) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(in)
	cmd.Stdout = out
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = killDelay
	ownGroup(cmd)
	return cmd.Run()
}
