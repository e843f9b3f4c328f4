package channels

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRemoveOwner: removing a channel removes the channels that it owns at that time.
func TestRemoveOwner(t *testing.T) {
	l, _ := newToyLog(t, Options{})
	mustUpdate(t, l, func(tx *Tx) error {
		for _, uri := range []string{"toy:/a/1", "toy:/a/2", "toy:/a/3", "toy:/a/4"} {
			if err := tx.Create(uri, "toy:/a", count{}); err != nil {
				return err
			}
		}
		tx.Remove("toy:/a/1") // the last child takes its position
		tx.Remove("toy:/a/4")
		return tx.Create("toy:/a/5", "toy:/a", count{})
	})
	owned := func(tx *Tx) []string {
		return slices.DeleteFunc(tx.Channels("toy"), func(uri string) bool { return !strings.HasPrefix(uri, "toy:/a/") })
	}
	mustUpdate(t, l, func(tx *Tx) error {
		if diff := cmp.Diff([]string{"toy:/a/2", "toy:/a/3", "toy:/a/5"}, owned(tx)); diff != "" {
			t.Error(diff)
		}
		tx.Remove("toy:/a")
		if left := owned(tx); len(left) > 0 {
			t.Errorf("%v remain after their owner was removed", left)
		}
		return nil
	})
}
