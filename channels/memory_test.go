package channels_test

import (
	"errors"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Open {
		var last *channels.Memory
		return func() (channels.Store, error) {
			if last == nil {
				last = channels.NewMemory()
				return last, nil
			}
			next, err := last.Reopen()
			if err != nil {
				return nil, err
			}
			last = next
			return next, nil
		}
	})
}

// TestMemoryReopen: two reopened stores do not share records.
func TestMemoryReopen(t *testing.T) {
	m := channels.NewMemory()
	if _, err := m.Reopen(); !errors.Is(err, channels.ErrStoreBusy) {
		t.Errorf("reopen before Close: %v", err)
	}
	m.Close()
	a, _ := m.Reopen()
	b, _ := m.Reopen()
	if err := a.Commit(t.Context(), channels.Change{Key: "a"}); err != nil {
		t.Fatal(err)
	}
	err := b.Load(t.Context(), func(key string, _ []byte) error {
		t.Errorf("the other store has %q", key)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
