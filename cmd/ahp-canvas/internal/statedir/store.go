package statedir

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

const codeReadOnly = "state_read_only"

// OpenStore opens the store in a state folder; that of Memory keeps nothing. The store
// recovers from errors of the disk without a restart.
func (s *State) OpenStore(dir string, logger *slog.Logger) (channels.Store, error) {
	if dir == Memory {
		return channels.NoStore, nil
	}
	store, err := openStore(dir, logger)
	if s.UseSpare(err) {
		store, err = openStore(dir, logger)
	}
	if err != nil {
		return nil, StoreError(err)
	}
	return store, nil
}

func openStore(dir string, logger *slog.Logger) (channels.Store, error) {
	open := func(ctx context.Context) (channels.Store, error) {
		return sqlitestore.Open(ctx, StoreFile(dir), sqlitestore.Options{Logger: logger})
	}
	store, err := open(context.Background())
	if err != nil {
		return nil, err
	}
	return channels.WatchStore(store, open, logger), nil
}

// StoreFile returns the name of the store in a state folder.
func StoreFile(dir string) string { return filepath.Join(dir, sqlitestore.FileName) }

// StoreError gives a store's error a code, by which scripts can tell it from others. Other
// errors are returned unchanged.
func StoreError(err error) error {
	for _, known := range []struct {
		is   error
		code string
	}{
		{channels.ErrStoreNewer, "state_newer"},
		{channels.ErrStoreDamaged, "state_damaged"},
		{channels.ErrStoreBusy, term.CodeNotStarted},
		{channels.ErrStoreFull, "state_full"},
		{channels.ErrStoreReadOnly, codeReadOnly},
		{channels.ErrStoreBroken, "state_broken"},
	} {
		if errors.Is(err, known.is) {
			return term.Failf(known.code, "%v", err)
		}
	}
	return err
}
