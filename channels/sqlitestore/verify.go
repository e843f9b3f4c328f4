package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// record is a record that was read, with its own copy of the value.
type record struct {
	key   string
	value []byte
	row
}

// row is the id of a record's row, and the record's checksum.
type row struct {
	id  int64
	sum uint32
}

// readAll reads and verifies a store. It returns the manifest, and the records in the
// order of their keys. It reads one snapshot, even while a host writes.
func readAll(ctx context.Context, c *conn, path string) (m manifest, records []record, err error) {
	defer func() { err = reading(path, err) }()
	if err := c.exec(ctx, "BEGIN"); err != nil {
		return m, nil, err
	}
	defer func() { err = errors.Join(err, c.exec(context.WithoutCancel(ctx), "ROLLBACK")) }()
	if m, err = readManifest(ctx, c, path); err != nil {
		return m, nil, err
	}
	if err := checkStructure(ctx, c); err != nil {
		return m, nil, err
	}
	records, err = readRecords(ctx, c, m)
	return m, records, err
}

// readManifest reads and verifies the manifest. It must be called first, because a newer
// version might have another format.
func readManifest(ctx context.Context, c *conn, path string) (manifest, error) {
	var version, crc int64
	var body string
	row := c.QueryRowContext(ctx, "SELECT format, body, crc FROM manifest WHERE one = 1")
	if err := row.Scan(&version, &body, &crc); err != nil {
		return manifest{}, fmt.Errorf("its manifest cannot be read: %w", err)
	}
	m, err := decodeManifest(version, body, crc)
	switch {
	case err != nil:
		return m, err
	case version > format:
		return m, fmt.Errorf("%s: %w: it has format %d, this program knows format %d; use a newer ahp-canvas, restore a backup that this version made (ahp-canvas state restore), or choose another folder with --state",
			path, channels.ErrStoreNewer, version, format)
	case version < format:
		return m, fmt.Errorf("its format %d does not exist", version)
	}
	return m, nil
}

// readAlone reads the manifest of a file without its log. It returns nil if that is not
// valid without the log, because a checkpoint was interrupted.
func readAlone(ctx context.Context, path string) (*manifest, error) {
	c, err := connect(ctx, path, immutable)
	if err != nil {
		return nil, ctx.Err()
	}
	m, err := readManifest(ctx, c, path)
	if err = errors.Join(err, c.close()); err != nil {
		return nil, ctx.Err()
	}
	return &m, nil
}

// checkStructure checks the tables, the journal mode (in another mode, SQLite would
// ignore the log) and SQLite's own structures, such as the list of free pages, on which
// later writes rely.
func checkStructure(ctx context.Context, c *conn) error {
	if c.mode != immutable { // an immutable connection has no such mode
		mode, err := texts(ctx, c, "PRAGMA journal_mode")
		if err != nil {
			return err
		}
		if !slices.Equal(mode, []string{"wal"}) {
			return fmt.Errorf("its journal mode is %q", mode)
		}
	}
	tables, err := texts(ctx, c, "SELECT sql FROM sqlite_schema ORDER BY name")
	if err != nil {
		return err
	}
	if !slices.Equal(tables, []string{manifestTable, recordTable}) {
		return errors.New("its tables are not those of a store")
	}
	found, err := texts(ctx, c, "PRAGMA quick_check(1)")
	if err != nil {
		return err
	}
	if !slices.Equal(found, []string{"ok"}) {
		return fmt.Errorf("SQLite finds: %.200q", found)
	}
	return nil
}

// texts returns the rows of a query with one column.
func texts(ctx context.Context, c *conn, query string) ([]string, error) {
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text *string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		if text != nil { // an automatic index has no text
			all = append(all, *text)
		}
	}
	return all, rows.Err()
}

// readRecords reads the records, and checks each of them and all against the manifest.
func readRecords(ctx context.Context, c *conn, m manifest) ([]record, error) {
	rows, err := c.QueryContext(ctx, "SELECT id, key, value, crc FROM record ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var records []record
	var last int64
	var sum uint64
	for rows.Next() {
		var id, key, value, crc any // the types are not trusted either
		if err := rows.Scan(&id, &key, &value, &crc); err != nil {
			return nil, err
		}
		r, err := checkRecord(id, key, value, crc)
		if err != nil {
			return nil, err
		}
		if r.id <= last {
			return nil, fmt.Errorf("record %.100q is not in order", r.key)
		}
		records, last, sum = append(records, r), r.id, sum+uint64(r.sum)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(records) != m.Records || sum != m.Sum {
		return nil, fmt.Errorf("its %d records are not the %d of its manifest", len(records), m.Records)
	}
	return records, sortRecords(records)
}

func checkRecord(id, key, value, crc any) (record, error) {
	i, ok1 := id.(int64)
	k, ok2 := key.([]byte)
	v, ok3 := value.([]byte)
	want, ok4 := crc.(int64)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return record{}, errors.New("a record has a column of the wrong type")
	}
	r := record{key: string(k), value: v, row: row{id: i}}
	if r.sum = recordSum(k, r.value); int64(r.sum) != want {
		return r, fmt.Errorf("record %.100q does not match its checksum", r.key)
	}
	return r, nil
}

// sortRecords sorts records by key. It fails if two have the same key.
func sortRecords(records []record) error {
	slices.SortFunc(records, func(a, b record) int { return strings.Compare(a.key, b.key) })
	for i := range records[:max(len(records)-1, 0)] {
		if records[i].key == records[i+1].key {
			return fmt.Errorf("record %.100q exists twice", records[i].key)
		}
	}
	return nil
}
