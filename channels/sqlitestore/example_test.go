package sqlitestore_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

func Example() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, sqlitestore.FileName)

	s, err := sqlitestore.Open(ctx, path, sqlitestore.Options{})
	if err != nil {
		log.Fatal(err)
	}
	err = s.Commit(ctx, // on disk when it returns, both or none
		channels.Change{Key: "session/1", Value: []byte(`{"title":"Plans"}`)},
		channels.Change{Key: "session/0", Delete: true})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := sqlitestore.Dump(ctx, path, func(key string, value []byte) error {
		fmt.Printf("%s %s\n", key, value)
		return nil
	})
	fmt.Println(r.Records, "record, closed:", r.Closed, err)
	// Output:
	// session/1 {"title":"Plans"}
	// 1 record, closed: true <nil>
}
