package main

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
)

// endpoint is a running host as its endpoint file and the first line of
// serve --json name it (canvas.md section 9).
type endpoint struct {
	Link       string `json:"link"`
	Page       string `json:"page"`
	AHP        string `json:"ahp"`
	MCP        string `json:"mcp"`
	ViewToken  string `json:"viewToken"`
	AgentToken string `json:"agentToken"`
	Session    string `json:"session"`
	PID        int    `json:"pid"`
}

// endpointFile is an endpoint with what only the file needs.
type endpointFile struct {
	endpoint
	Started time.Time `json:"started"`
	// Content is how pages of extensions and web apps reach people; "" where the
	// host has none.
	Content string `json:"content,omitzero"`
	// Locked says that the host holds the file's lock for as long as it lives: its
	// process id alone would let a later process pass for it.
	Locked bool `json:"locked,omitzero"`
}

// publish writes the endpoint file of this process, holds its lock, and returns
// its removal.
func publish(dir string, e endpointFile) (remove func(), err error) {
	if err := ensurePrivate(dir); err != nil {
		return nil, fmt.Errorf("endpoint file: %w", err)
	}
	name := filepath.Join(dir, strconv.Itoa(e.PID)+".json")
	f, err := writeHeld(name, func(locked bool) []byte {
		e.Locked = locked
		return ahp.MustMarshal(e)
	})
	if err != nil {
		return nil, fmt.Errorf("endpoint file: %w", err)
	}
	return func() { _ = os.Remove(name); f.Close() }, nil
}

// writeHeld is writePrivate for a file that is open and locked before anybody can
// see it. Where the file system has no locks, data is told so.
func writeHeld(name string, data func(locked bool) []byte) (*os.File, error) {
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

// running reads the endpoint files of all hosts that live, the one that started
// last first. Files of processes that are gone are removed.
func running(dir string) ([]endpointFile, error) {
	if err := checkPrivate(dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []endpointFile
	for _, entry := range entries {
		base, ok := strings.CutSuffix(entry.Name(), ".json")
		pid, err := strconv.Atoi(base)
		if !ok || err != nil {
			continue // not one of ours
		}
		name := filepath.Join(dir, entry.Name())
		if !alive(pid) {
			_ = os.Remove(name) // the next one who looks will try again
			_ = os.RemoveAll(logFolder(dir, pid))
			continue
		}
		e, held, err := readEndpoint(name)
		switch {
		case err != nil || e.PID != pid: // it is going away, or of another version
		case e.Locked && !held: // another process has its number now, and perhaps its port
			_ = os.Remove(name)
			_ = os.RemoveAll(logFolder(dir, pid))
		default:
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b endpointFile) int { return b.Started.Compare(a.Started) })
	return all, nil
}

// readEndpoint reads an endpoint file; held says that somebody has its lock.
func readEndpoint(name string) (e endpointFile, held bool, err error) {
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

// alive reports whether a process of that id exists.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if runtime.GOOS == "windows" {
		return true // only one that exists is found there, and it takes no such signal
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}

// port is where the host listens; 0 where the file does not say.
func (e endpoint) port() int {
	u, err := url.Parse(e.MCP)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}
