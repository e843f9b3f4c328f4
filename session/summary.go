package session

import (
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Timestamp returns a time as the protocol writes it: ISO 8601 in UTC, with milliseconds.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// difference returns an absent field if nothing changed, null if the value was cleared.
func difference[T comparable](before, now *T) ahp.Field[T] {
	switch {
	case before == nil && now == nil, before != nil && now != nil && *before == *now:
		return ahp.Field[T]{}
	case now == nil:
		return ahp.Clear[T]()
	}
	return ahp.Set(*now)
}
