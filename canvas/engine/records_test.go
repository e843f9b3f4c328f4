package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
)

// TestRecords checks that a provider's records are durable when Put returns, survive a
// restart without an open canvas, and are apart by extension.
func TestRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h := l.next()
		one, two := h.Canvases.Records("one"), h.Canvases.Records("one/two")
		ok(t, one.Put(t.Context(), "two/a", []byte("of one")))
		ok(t, two.Put(t.Context(), "a", []byte("of two")))
		ok(t, two.Put(t.Context(), "empty", nil))
		ok(t, two.Put(t.Context(), "gone", []byte("x")))
		ok(t, two.Delete(t.Context(), "gone"))
		ok(t, two.Delete(t.Context(), "never"))

		h = l.next()
		one, two = h.Canvases.Records("one"), h.Canvases.Records("one/two")
		equal(t, []string{"two/a"}, one.Keys(""))
		equal(t, []string{"a", "empty"}, two.Keys(""))
		equal(t, []string{"empty"}, two.Keys("e"))
		for key, want := range map[string]string{"a": "of two true", "empty": " true", "gone": " false"} {
			value, exists := two.Get(key)
			equal(t, want, fmt.Sprintf("%s %v", value, exists))
		}
	})
}

// TestRecordsOfAHandle checks that instances share the records of their extension.
func TestRecordsOfAHandle(t *testing.T) {
	h, f, _ := newFake(t, engine.Options{})
	f.open = func(ctx context.Context, req canvas.OpenRequest, hd *canvas.Handle) (canvas.Opened, error) {
		return canvas.Opened{}, hd.Records().Put(ctx, req.InstanceID, []byte("opened"))
	}
	for _, id := range []string{"one", "two"} {
		_, err := open(h, id, "")
		ok(t, err)
	}
	equal(t, []string{"one", "two"}, f.latest().h.Records().Keys(""))
	equal(t, []string{"one", "two"}, h.Canvases.Records("ext").Keys(""))
}

// TestRecordLimits checks each limit with a record that just fits and one that does not.
func TestRecordLimits(t *testing.T) {
	h, _, _ := newFake(t, engine.Options{Limits: canvas.Limits{RecordBytes: 1000, RecordsBytes: 3000}})
	r := h.Canvases.Records("ext")
	put := func(key string, size int) error { return r.Put(t.Context(), key, make([]byte, size)) }
	wantCode(t, put("a", 1001), canvas.CodeLimitExceeded)
	ok(t, put("a", 1000))
	ok(t, put("b", 1000))
	wantCode(t, put("c", 3000-2*(1000+1+256)-256), canvas.CodeLimitExceeded)
	ok(t, put("c", 3000-2*(1000+1+256)-256-1))
	ok(t, put("a", 999)) // a smaller value of the same key
	ok(t, r.Delete(t.Context(), "b"))
	ok(t, put("d", 1000))
	for _, key := range []string{"", strings.Repeat("k", canvas.MaxRecordKey+1), "\xff"} {
		wantCode(t, put(key, 1), canvas.CodeInputInvalid)
	}
	equal(t, []string{"a", "c", "d"}, r.Keys(""))
}

// TestRecordsOnFullDisk checks that a record that the store refuses does not change.
func TestRecordsOnFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lives{t: t}
		h := l.next()
		r := h.Canvases.Records("ext")
		ok(t, r.Put(t.Context(), "a", []byte("before")))
		h.Canvases.PutStore(full{l.store})
		wantCode(t, r.Put(t.Context(), "a", []byte("after")), canvas.CodeStoreFailed)
		wantCode(t, r.Delete(t.Context(), "a"), canvas.CodeStoreFailed)
		value, _ := r.Get("a")
		equal(t, "before", string(value))
	})
}

// TestRecordsInAClient checks the zero value, which a client's handle returns.
func TestRecordsInAClient(t *testing.T) {
	var r canvas.Records
	if err := r.Put(t.Context(), "a", nil); err != canvas.ErrUnsupported {
		t.Errorf("Put: %v", err)
	}
	if err := r.Delete(t.Context(), "a"); err != canvas.ErrUnsupported {
		t.Errorf("Delete: %v", err)
	}
	if _, exists := r.Get("a"); exists || r.Keys("") != nil {
		t.Error("it holds records")
	}
}
