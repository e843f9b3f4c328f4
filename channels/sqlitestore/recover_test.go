package sqlitestore

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// recovered is a log that signals when a store works again.
type recovered chan struct{}

func (r recovered) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "accepts changes again") {
		r <- struct{}{}
	}
	return len(p), nil
}

// TestABrokenStoreRecovers: a watched store that is broken says so, and works again without
// a restart, with every acknowledged commit.
func TestABrokenStoreRecovers(t *testing.T) {
	ahptest.Leaks(t)
	path := filepath.Join(t.TempDir(), FileName)
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	again := make(recovered, 1)
	w := channels.WatchStore(s, func(ctx context.Context) (channels.Store, error) { return Open(ctx, path, Options{}) }, slog.New(slog.NewTextHandler(again, nil)))
	if err := w.Commit(t.Context(), channels.Change{Key: "a", Value: []byte("1")}); err != nil || w.Health().Err != nil {
		t.Fatal(err, w.Health())
	}
	s.w.stmts.commit = noStatement{s.w.stmts.commit} // no job is running
	if err := w.Commit(t.Context(), channels.Change{Key: "b"}); !errors.Is(err, channels.ErrStoreBroken) {
		t.Errorf("commit: %v", err)
	}
	if h := w.Health(); !errors.Is(h.Err, channels.ErrStoreBroken) || h.Since.IsZero() || h.Errors != 1 {
		t.Errorf("%+v", h)
	}
	<-again
	if err := w.Commit(t.Context(), channels.Change{Key: "c", Value: []byte("2")}); err != nil || w.Health().Err != nil {
		t.Errorf("commit after it recovered: %v, %+v", err, w.Health())
	}
	have := map[string]string{}
	err = w.Load(t.Context(), func(key string, value []byte) error { have[key] = string(value); return nil })
	if err != nil || len(have) != 2 || have["a"] != "1" || have["c"] != "2" {
		t.Errorf("%v, %v", have, err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
