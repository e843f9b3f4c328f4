package history

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// The limits of a session's history.
const (
	maxEntries  = 256
	maxInstance = maxEntries / 2 // of one instance
	maxWhat     = 200            // code points
	maxTitle    = 80             // code points
	again       = time.Minute    // in which the same is counted in one entry
	blockSize   = 16             // entries in one record
)

// prefix begins the keys of the records; the session and the number of the block follow.
const prefix = "history/"

// Options configures a History.
type Options struct {
	// Log has the subscriptions of connections that ask.
	Log *channels.Log
	// Store keeps the entries.
	Store channels.Store
	// Now is the clock.
	Now func() time.Time
	// Logger receives failures to store; nil discards them.
	Logger *slog.Logger
}

// History is what happened in the sessions of a host. Make it with New. Its methods may
// be called concurrently.
type History struct {
	log    *channels.Log
	now    func() time.Time
	behind *channels.WriteBehind

	mu       sync.Mutex
	sessions map[string]*entries
}

// entries are those of one session, in the order of their Seq.
type entries struct {
	list []canvas.Happening
	seq  int64
}

// New returns an empty history.
func New(o Options) *History {
	h := &History{log: o.Log, now: o.Now, sessions: map[string]*entries{}}
	h.behind = channels.NewWriteBehind(o.Store, h.collect, o.Logger)
	return h
}

// Add adds an entry. Its ID, Seq, Time and Count are set here.
func (h *History) Add(session string, one canvas.Happening) {
	now := h.now()
	one.What, one.Title, one.Who.Name = ahp.Line(one.What, maxWhat), ahp.Line(one.Title, maxTitle), ahp.Line(one.Who.Name, canvas.MaxPersonName)
	if one.What == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[session]
	if s == nil {
		s = &entries{}
		h.sessions[session] = s
	}
	s.seq++
	one.ID, one.Count = s.seq, 1
	if at := s.same(one, now); at >= 0 {
		one.ID, one.Count = s.list[at].ID, s.list[at].Count+1
		s.list = slices.Delete(s.list, at, at+1)
	}
	one.Seq, one.Time = s.seq, now.UTC().Format(time.RFC3339)
	s.list = append(s.list, one)
	h.mark(session, one.ID)
	if at := s.excess(one.InstanceID); at >= 0 {
		h.mark(session, s.list[at].ID)
		s.list = slices.Delete(s.list, at, at+1)
	}
}

// same returns the index of the newest entry of an instance, if it is the same and not
// long ago; otherwise -1.
func (s *entries) same(one canvas.Happening, now time.Time) int {
	for at := len(s.list) - 1; at >= 0; at-- {
		last := &s.list[at]
		if last.InstanceID != one.InstanceID {
			continue
		}
		then, err := time.Parse(time.RFC3339, last.Time)
		if err == nil && last.Who == one.Who && last.What == one.What && now.Sub(then) < again {
			return at
		}
		break
	}
	return -1
}

// excess returns the index of the entry that must make space for one of an instance, or -1.
func (s *entries) excess(instance string) int {
	first, n := -1, 0
	for at, one := range s.list {
		if one.InstanceID != instance {
			continue
		}
		if n++; first < 0 {
			first = at
		}
	}
	switch {
	case n > maxInstance:
		return first
	case len(s.list) > maxEntries:
		return 0
	}
	return -1
}

// Drop removes the entries of a session that ended.
func (h *History) Drop(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[session]; s != nil {
		for _, one := range s.list {
			h.mark(session, one.ID)
		}
		delete(h.sessions, session)
	}
}

// Ask is the method x-ahp-canvas/history. Only a connection that is subscribed to the
// session learns what happened there.
func (h *History) Ask(_ context.Context, from *channels.Subscriber, p canvas.HistoryParams) (canvas.HistoryResult, error) {
	subscribed := false
	h.log.View(func(tx *channels.ReadTx) { subscribed = slices.Contains(tx.Subscribers(p.Channel), from) })
	if !subscribed {
		return canvas.HistoryResult{}, ahp.ErrNotFound
	}
	return h.After(p.Channel, p.After), nil
}

// After returns the entries of a session after a position, the oldest first. A position
// beyond the end, of a host before this one, is the beginning.
func (h *History) After(session string, after int64) canvas.HistoryResult {
	h.mu.Lock()
	defer h.mu.Unlock()
	result := canvas.HistoryResult{Happenings: []canvas.Happening{}}
	s := h.sessions[session]
	if s == nil {
		return result
	}
	if result.Next = s.seq; after > s.seq {
		after = 0
	}
	at, _ := slices.BinarySearchFunc(s.list, after+1, func(one canvas.Happening, seq int64) int { return cmp.Compare(one.Seq, seq) })
	result.Happenings = append(result.Happenings, s.list[at:]...)
	return result
}

// Flush commits what is not in the store yet, and ends the write-behind.
func (h *History) Flush(ctx context.Context) error { return h.behind.Flush(ctx) }

// Load reads the entries of an earlier run.
func (h *History) Load(records channels.Records) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, rec := range records.Under(prefix) {
		var block []canvas.Happening
		if err := rec.Read(prefix, &block); err != nil {
			return err
		}
		session, _, _ := cutBlock(rec.Key)
		s := h.sessions[session]
		if s == nil {
			s = &entries{}
			h.sessions[session] = s
		}
		s.list = append(s.list, block...)
	}
	for _, s := range h.sessions {
		slices.SortFunc(s.list, func(a, b canvas.Happening) int { return cmp.Compare(a.Seq, b.Seq) })
		for _, one := range s.list {
			s.seq = max(s.seq, one.Seq, one.ID)
		}
	}
	return nil
}

// Keep drops the entries of sessions that do not exist any more.
func (h *History) Keep(exists func(session string) bool) {
	h.mu.Lock()
	var gone []string
	for session := range h.sessions {
		gone = append(gone, session)
	}
	h.mu.Unlock()
	for _, session := range gone {
		if !exists(session) {
			h.Drop(session)
		}
	}
}

// mark records that the block of an entry is out of date. mu is held.
func (h *History) mark(session string, id int64) {
	h.behind.Mark(prefix + session + "#" + strconv.FormatInt(id/blockSize, 10))
}

// cutBlock returns what the key of a record, without its prefix, names.
func cutBlock(key string) (session string, block int64, err error) {
	at := max(strings.LastIndexByte(key, '#'), 0)
	block, err = strconv.ParseInt(strings.TrimPrefix(key[at:], "#"), 10, 64)
	return key[:at], block, err
}

// collect returns the current records of marked blocks.
func (h *History) collect(keys []string) (changes []channels.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range keys {
		session, block, err := cutBlock(strings.TrimPrefix(key, prefix))
		if err != nil {
			continue
		}
		change := channels.Change{Key: key, Delete: true}
		var in []canvas.Happening
		if s := h.sessions[session]; s != nil {
			in = slices.DeleteFunc(slices.Clone(s.list), func(one canvas.Happening) bool { return one.ID/blockSize != block })
		}
		if len(in) > 0 {
			change = channels.Change{Key: key, Value: ahp.MustMarshal(in)}
		}
		changes = append(changes, change)
	}
	return changes
}
