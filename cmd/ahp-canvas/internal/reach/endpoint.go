package reach

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels/lockfile"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// Endpoint describes a running host. It is the first line of serve --json.
type Endpoint struct {
	// Link opens the page; it holds the view token.
	Link string `json:"link"`
	// Page, AHP and MCP are the URLs of the page, the WebSocket and the agent's endpoint.
	Page string `json:"page"`
	AHP  string `json:"ahp"`
	MCP  string `json:"mcp"`
	// ViewToken opens Page and AHP; AgentToken opens MCP too.
	ViewToken  string `json:"viewToken"`
	AgentToken string `json:"agentToken"`
	// Session is the URI of the default session.
	Session string `json:"session"`
	// PID is the host's process id.
	PID int `json:"pid"`
	// ActionsBridge is where browser pages connect, with their token; "" if the host has no
	// such endpoint.
	ActionsBridge string `json:"actionsBridge,omitzero"`
}

// Published is the content of an endpoint file.
type Published struct {
	Endpoint
	// Name is what people call the host: --name of serve, or the name of its state folder.
	Name string `json:"name,omitzero"`
	// Started is when the host started.
	Started time.Time `json:"started"`
	// Content is how pages of extensions and web apps reach people, as --content names
	// it; "" if the host has none.
	Content string `json:"content,omitzero"`
	// Locked reports whether the host locks the file as long as it runs. Without a lock
	// a later process with the same id would be taken for the host.
	Locked bool `json:"locked,omitzero"`
}

// Publish writes the endpoint file of this process and locks it. The returned function
// removes it.
func Publish(dir string, e Published) (remove func(), err error) {
	if err := userdir.Ensure(dir); err != nil {
		return nil, fmt.Errorf("endpoint file: %w", err)
	}
	name := filepath.Join(dir, strconv.Itoa(e.PID)+".json")
	f, err := writeLocked(name, func(locked bool) []byte {
		e.Locked = locked
		return ahp.MustMarshal(e)
	})
	if err != nil {
		return nil, fmt.Errorf("endpoint file: %w", err)
	}
	return func() { _ = os.Remove(name); f.Close() }, nil
}

// writeLocked writes a private file that is locked before it gets its name. data learns
// whether the file system has locks.
func writeLocked(name string, data func(locked bool) []byte) (*os.File, error) {
	f, err := lockfile.Create(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	_, err = lockfile.Try(f)
	_, err = f.Write(data(err == nil))
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		f.Close()
		return nil, err
	}
	return f, nil
}

// Running returns the running hosts, the most recently started one first. It removes the
// files of processes that have ended.
func Running(dir string) ([]Published, error) {
	if err := userdir.Check(dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Published
	for _, entry := range entries {
		base, ok := strings.CutSuffix(entry.Name(), ".json")
		pid, err := strconv.Atoi(base)
		if !ok || err != nil {
			continue // not an endpoint file
		}
		if e, ok := readLive(dir, entry.Name(), pid); ok {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Published) int { return b.Started.Compare(a.Started) })
	return all, nil
}

// readLive returns the content of an endpoint file whose host runs. It removes the file
// if the host has ended.
func readLive(dir, name string, pid int) (Published, bool) {
	file := filepath.Join(dir, name)
	remove := func() { // if it fails, the next command tries again
		_ = os.Remove(file)
		_ = os.RemoveAll(userdir.Logs(dir, pid))
	}
	if !Alive(pid) {
		remove()
		return Published{}, false
	}
	e, held, err := readEndpoint(file)
	switch {
	case err != nil || e.PID != pid: // its host is ending, or has another version
		return Published{}, false
	case e.Locked && !held: // another process has the host's id now, and perhaps its port
		remove()
		return Published{}, false
	}
	return e, true
}

// readEndpoint reads an endpoint file; held reports whether its host holds the lock.
func readEndpoint(name string) (e Published, held bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return e, false, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err == nil {
		err = ahp.Unmarshal(data, &e)
	}
	held, lockErr := lockfile.Try(f)
	return e, held || lockErr != nil, err
}

// Alive reports whether a process with an id exists.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if runtime.GOOS == "windows" {
		return true // there, FindProcess fails for a missing process, and Signal 0 does not exist
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}

// Port returns the port that the host listens on; 0 if MCP has none.
func (e Endpoint) Port() int {
	u, err := url.Parse(e.MCP)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}

// The values of Published.Content.
const (
	// ContentChannel sends pages through the host, wherever the person is.
	ContentChannel = "channel"
	// ContentListener is ContentChannel whose pages the page shows at addresses of the host,
	// where it reaches them.
	ContentListener = "listener"
	// ContentDirect loads pages from the app itself, which only works on its machine.
	ContentDirect = "direct"
)
