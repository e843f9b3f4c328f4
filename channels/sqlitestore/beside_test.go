package sqlitestore

import (
	"errors"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// A store that another process reads while it is closed keeps its log: Close says
// so, Check does not call the file whole, and the next host has everything.
func TestCloseBesideAReader(t *testing.T) {
	ahptest.Leaks(t)
	path := made(t, "")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := connect(t.Context(), path, readOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []string{"BEGIN", "SELECT count(*) FROM record"} {
		if err := reader.exec(t.Context(), do); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Commit(t.Context(), channels.Change{Key: "d"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); !errors.Is(err, channels.ErrStoreBusy) {
		t.Errorf("close: %v", err)
	}
	if err := reader.close(); err != nil {
		t.Error(err)
	}
	if r, err := Check(t.Context(), path); err != nil || r.Records != 4 || r.Closed {
		t.Errorf("check: %+v %v", r, err)
	}
	if s, err = Open(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if r, err := Check(t.Context(), path); err != nil || r.Records != 4 || !r.Closed {
		t.Errorf("check of a closed store: %+v %v", r, err)
	}
}
