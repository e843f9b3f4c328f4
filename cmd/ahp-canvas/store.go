package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// openStore opens what a host keeps in its state folder; "memory" keeps nothing.
func openStore(dir string, logger *slog.Logger) (channels.Store, error) {
	if dir == memory {
		return channels.NoStore, nil
	}
	store, err := sqlitestore.Open(context.Background(), filepath.Join(dir, sqlitestore.FileName), sqlitestore.Options{Logger: logger})
	if err != nil {
		return nil, storeError(err)
	}
	return store, nil
}

// storeError tells a store's refusals apart for scripts; the words are the store's.
func storeError(err error) error {
	for _, known := range []struct {
		is   error
		code string
	}{
		{channels.ErrStoreNewer, "state_newer"},
		{channels.ErrStoreDamaged, "state_damaged"},
		{channels.ErrStoreBusy, codeNotStarted},
		{channels.ErrStoreFull, "state_full"},
		{channels.ErrStoreReadOnly, "state_read_only"},
		{channels.ErrStoreBroken, "state_broken"},
	} {
		if errors.Is(err, known.is) {
			return failf(known.code, "%v", err)
		}
	}
	return fmt.Errorf("state: %w", err)
}
