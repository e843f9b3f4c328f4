package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
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
}

// publish writes the endpoint file of this process and returns its removal.
func publish(dir string, e endpointFile) (remove func(), err error) {
	if err := ensurePrivate(dir); err != nil {
		return nil, fmt.Errorf("endpoint file: %w", err)
	}
	name := filepath.Join(dir, strconv.Itoa(e.PID)+".json")
	if err := writePrivate(name, ahp.MustMarshal(e)); err != nil {
		return nil, fmt.Errorf("endpoint file: %w", err)
	}
	return func() { _ = os.Remove(name) }, nil
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
		var e endpointFile
		data, err := os.ReadFile(name)
		if err != nil || ahp.Unmarshal(data, &e) != nil || e.PID != pid {
			continue // it is going away, or of another version
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b endpointFile) int { return b.Started.Compare(a.Started) })
	return all, nil
}

// alive reports whether a process of that id exists.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
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
