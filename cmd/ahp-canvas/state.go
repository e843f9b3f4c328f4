package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// memory is the --state that keeps nothing.
const memory = "memory"

// state is what a host keeps so that a page survives its restart.
type state struct {
	ViewToken  string `json:"viewToken"`
	AgentToken string `json:"agentToken"`
	Port       int    `json:"port,omitzero"` // the last one; 0 before the first

	file string // "" keeps nothing
}

// loadState reads the state of a folder and fills in what it does not hold.
// The folder becomes the user's alone.
func loadState(dir string) (*state, error) {
	s := &state{}
	if dir == memory {
		s.fill()
		return s, nil
	}
	if err := ensurePrivate(dir); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	s.file = filepath.Join(dir, "host.json")
	data, err := os.ReadFile(s.file)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("state folder: %w", err)
	default:
		if err := ahp.Unmarshal(data, s); err != nil {
			return nil, fmt.Errorf("%s is damaged (%w): remove it to begin anew; open pages need the new link then", s.file, err)
		}
	}
	s.fill()
	return s, s.save()
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

// newToken is 256 bits that fit into a header, a subprotocol and a fragment.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
