package channels

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestReplayLimits: by default a log retains this much for replay (canvas/PROTOCOL.md
// sections 4 and 8). A client that has missed one entry more gets snapshots.
func TestReplayLimits(t *testing.T) {
	state := func(text string) ahp.Action { return whisper{text} }
	message := func(text string) ahp.Action { return shout{text} }
	const piece = 64 << 10
	for name, tc := range map[string]struct {
		opts   Options
		action func(text string) ahp.Action
		size   int // of an entry, in bytes; 0 is the smallest possible
		fit    int
	}{
		"4,096 states":      {Options{}, state, 0, 4096},
		"16 MiB of states":  {Options{ReplayBytes: 1 << 30}, state, piece, 16 << 20 / piece},
		"1,024 messages":    {Options{}, message, 0, 1024},
		"4 MiB of messages": {Options{}, message, piece, 4 << 20 / piece},
		"8 MiB in a replay": {Options{}, state, piece, 8 << 20 / piece},
	} {
		t.Run(name, func(t *testing.T) {
			tc.opts.FirstSeq = 10_000 // all numbers have five digits, so all entries have the same size
			l, _ := newToyLog(t, tc.opts)
			s, _ := subscriber(1, "c", "toys")
			s.Version = ahp.V0_6_0
			subscribeTo(t, l, s, "toy:/a")
			base := l.seq
			mark := l.Leave(s)
			missed := func() (r Resumption) {
				mustUpdate(t, l, func(tx *Tx) error { r = tx.Resume(s, mark, base, []string{"toy:/a"}); return nil })
				l.Leave(s)
				return r
			}
			text := "x"
			add := func() { mustUpdate(t, l, func(tx *Tx) error { return tx.Append("toy:/a", tc.action(text)) }) }
			if tc.size > 0 {
				add()
				text = strings.Repeat("x", tc.size-missed().Entries[0].size()+1)
				base = l.seq
			}
			for range tc.fit {
				add()
			}
			if r := missed(); !r.Replay || len(r.Entries) != tc.fit {
				t.Errorf("%d missed: replay %v of %d", tc.fit, r.Replay, len(r.Entries))
			}
			add()
			if r := missed(); r.Replay {
				t.Errorf("%d missed: a replay of %d", tc.fit+1, len(r.Entries))
			}
		})
	}
}
