package sqlitestore_test

import (
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
	"github.com/ahp-canvas/ahp-canvas/channels/storetest"
)

func TestStore(t *testing.T) {
	ahptest.Leaks(t)
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), sqlitestore.FileName)
		return func() (channels.Store, error) {
			return sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
		}
	})
}
