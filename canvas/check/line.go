package check

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Line returns a title or a status as one line of at most TextLength code points; see
// [ahp.Line].
func (l *Limits) Line(s string) string { return ahp.Line(s, l.TextLength) }

// CleanUpdate returns an update with its title and status as lines, and whether that
// changed them.
func (l *Limits) CleanUpdate(u canvas.Update) (clean canvas.Update, changed bool) {
	for _, s := range []*ahp.Field[string]{&u.Title, &u.Status} {
		if s.Value == nil {
			continue
		}
		if line := l.Line(*s.Value); line != *s.Value {
			s.Value, changed = &line, true
		}
	}
	return u, changed
}
