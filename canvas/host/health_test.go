package host_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// failingStore is a store in memory whose commits fail with an error while one is set.
type failingStore struct {
	channels.Store
	err atomic.Pointer[error]
}

func (s *failingStore) Commit(ctx context.Context, changes ...channels.Change) error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return s.Store.Commit(ctx, changes...)
}

// TestHealth: while the store refuses changes, /healthz answers 503 with the reason and
// without a path, and a caller learns whether its change is lost. Once the store works, the
// host does too, without a restart.
func TestHealth(t *testing.T) {
	for kind, says := range map[error]string{
		channels.ErrStoreFull:     "nothing was changed",
		channels.ErrStoreReadOnly: "nothing was changed",
		channels.ErrStoreBroken:   "not known whether this was changed",
	} {
		synctest.Test(t, func(t *testing.T) { testHealth(t, kind, says) })
	}
}

func testHealth(t *testing.T, kind error, says string) {
	disk := &failingStore{Store: channels.NoStore}
	store := channels.WatchStore(disk, func(context.Context) (channels.Store, error) { return disk, nil }, nil)
	h, err := host.New(host.Options{Origins: []string{"http://canvas.example"}, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	want := func(status int, text string) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://canvas.example/healthz", nil))
		if w.Code != status || strings.TrimSpace(w.Body.String()) != text {
			t.Errorf("%v: %d %q, want %d %q", kind, w.Code, w.Body, status, text)
		}
	}
	want(http.StatusOK, "ok")
	failure := fmt.Errorf("/secret/store.db: %w", kind)
	disk.err.Store(&failure)
	if err := h.EnsureSession("ahp-session:/more", "more"); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v: %v, want %q", kind, err, says)
	}
	want(http.StatusServiceUnavailable, "host: changes are not stored: "+kind.Error())
	if n := h.Load().StoreErrors; n != 1 {
		t.Errorf("%d errors", n)
	}
	disk.err.Store(nil)
	time.Sleep(time.Second)
	synctest.Wait()
	want(http.StatusOK, "ok")
	if err := h.EnsureSession("ahp-session:/more", "more"); err != nil {
		t.Errorf("%v: afterwards: %v", kind, err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
