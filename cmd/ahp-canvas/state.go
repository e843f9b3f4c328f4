package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels/lockfile"
)

// memory is the --state that keeps nothing.
const memory = "memory"

// state is what a host keeps so that a page survives its restart.
type state struct {
	ViewToken  string `json:"viewToken"`
	AgentToken string `json:"agentToken"`
	Port       int    `json:"port,omitzero"` // the last one; 0 before the first
	// Generation is what the last run registered with at a relay; 0 before the first.
	Generation int64 `json:"generation,omitzero"`

	file string   // "" keeps nothing
	lock *os.File // nil where nothing is kept
}

// loadState reads the state of a folder and fills in what it does not hold.
// The folder becomes the user's alone, and this host's until the state is
// released: two would overwrite each other's port.
func loadState(dir string) (*state, error) {
	s := &state{}
	if dir == memory {
		s.fill()
		return s, nil
	}
	if err := ensurePrivate(dir); err != nil {
		return nil, stateFolderError(dir, err)
	}
	if err := s.take(dir); err != nil {
		return nil, err
	}
	if err := s.load(filepath.Join(dir, "host.json")); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// take makes the folder this host's, and leaves word of who has it.
func (s *state) take(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return stateFolderError(dir, err)
	}
	held, err := lockfile.Try(f)
	switch {
	case held:
		defer f.Close()
		return &heldError{failf(codeNotStarted, "%s uses the state folder %s: ahp-canvas link prints its link; stop it, or give this one a --state of its own", holder(f), dir)}
	case err != nil:
		f.Close()
		return fmt.Errorf("state folder: lock: %w", err)
	}
	s.lock = f
	_ = f.Truncate(0) // the word is a help for people; the lock does not need it
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	return nil
}

// heldError says that another host has the state folder.
type heldError struct{ error }

func (e *heldError) Unwrap() error { return e.error }

// stateFolderError says what to do about a folder that cannot be used.
func stateFolderError(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return failf("state_read_only", "the state folder %s cannot be written: make it writable, or give another one with --state (\"memory\" keeps nothing)", dir)
	}
	return fmt.Errorf("state folder: %w", err)
}

// holder names the process that has a lock.
func holder(f *os.File) string {
	var text [20]byte
	n, _ := f.ReadAt(text[:], 0)
	if pid, err := strconv.Atoi(string(text[:n])); err == nil {
		return fmt.Sprintf("another host (process %d)", pid)
	}
	return "another host"
}

// release lets others have the folder. The file stays: who removed it could
// remove the lock of somebody who came in between.
func (s *state) release() {
	if s.lock != nil {
		s.lock.Close()
	}
}

func (s *state) load(file string) error {
	s.file = file
	data, err := os.ReadFile(s.file)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("state folder: %w", err)
	default:
		if err := ahp.Unmarshal(data, s); err != nil {
			return fmt.Errorf("%s is damaged (%w): remove it to begin anew; open pages need the new link then", s.file, err)
		}
	}
	s.fill()
	return s.save()
}

func (s *state) fill() {
	for _, t := range []*string{&s.ViewToken, &s.AgentToken} {
		if *t == "" {
			*t = newToken()
		}
	}
}

// save writes the state where it is kept.
func (s *state) save() error {
	if s.file == "" {
		return nil
	}
	if err := writePrivate(s.file, ahp.MustMarshal(s)); err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	return nil
}

// newGeneration is how a relay tells this run from earlier ones: by the time, and by
// one more than the last where the clock went back.
func (s *state) newGeneration(now time.Time) (int64, error) {
	s.Generation = max(now.UnixNano(), s.Generation+1)
	return s.Generation, s.save()
}

// newToken is 256 bits that fit into a header, a subprotocol and a fragment.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
