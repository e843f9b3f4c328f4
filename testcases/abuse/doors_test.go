package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// overdue is a context whose deadline has passed, and which has not noticed it yet.
type overdue struct{ context.Context }

func (overdue) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// TestMet counts who got in, and no failure that the end of the attack caused.
func TestMet(t *testing.T) {
	var at target
	at.met(t.Context(), "people", nil)
	at.met(overdue{t.Context()}, "people", errors.New("i/o timeout"))
	if got := at.shutOut(); got != "" {
		t.Errorf("everyone got in: %q", got)
	}
	at.met(t.Context(), "people", errors.New("status 503"))
	if got := at.shutOut(); !strings.Contains(got, "1 of 2 people got in: status 503") {
		t.Errorf("one was refused: %q", got)
	}
}
