package programtest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// multiply copies the token and the rows of a site's store until it has 1,000 tokens and
// 10,000 rows.
func (h *aamHost) multiply() {
	t := h.m.t
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), filepath.Join(h.dir, "aam", "site.db"), sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var changes []channels.Change
	err = store.Load(t.Context(), func(key string, value []byte) error {
		kind, id, _ := strings.Cut(key, "/")
		switch kind {
		case "token":
			for n := range 999 {
				changes = append(changes, channels.Change{Key: fmt.Sprintf("token/%064x", n), Value: slices.Clone(value)})
			}
		case "row":
			for n := range 10_000 {
				other := id[:len(id)-6] + fmt.Sprintf("%06d", n)
				changes = append(changes, channels.Change{Key: "row/" + other, Value: []byte(strings.ReplaceAll(string(value), id, other))})
			}
		}
		return nil
	})
	if err == nil {
		err = store.Commit(context.Background(), changes...)
	}
	if err != nil || len(changes) != 10_999 {
		t.Fatal(len(changes), err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestAAMStart compares the start of a host whose site has 1,000 tokens and 10,000 rows
// with that of one whose site has none.
func TestAAMStart(t *testing.T) {
	if os.Getenv("AHP_LONG") == "" {
		t.Skip("measures with AHP_LONG")
	}
	full, empty := newAAMHost(t), newAAMHost(t)
	token, _ := full.grant(10)
	s := full.serve()
	if got := full.callCard(http.DefaultClient, token, "add_card", "Milk", ""); got != 200 {
		t.Fatal(got)
	}
	s.stop(syscall.SIGTERM)
	full.multiply()
	empty.serve().stop(syscall.SIGTERM)
	took := map[*aamHost][]time.Duration{}
	for range 11 { // side by side, so that both meet the same load
		for _, h := range []*aamHost{full, empty} {
			began := time.Now()
			s := h.serve()
			took[h] = append(took[h], time.Since(began))
			if h == full {
				if n := len(h.log(s)); n != 100 {
					t.Fatalf("%d rows", n)
				}
			}
			s.stop(syscall.SIGTERM)
		}
	}
	median := func(h *aamHost) time.Duration { slices.Sort(took[h]); return took[h][len(took[h])/2] }
	ratio := float64(median(full)) / float64(median(empty))
	t.Logf("start with 1,000 tokens and 10,000 rows: %s, empty %s: %.2f x", median(full), median(empty), ratio)
	if ratio > 4 { // the goal is 1.5; a busy machine must not fail the test
		t.Errorf("%.2f x", ratio)
	}
}
