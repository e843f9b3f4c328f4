package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// record is one as it was read; nobody else has its value.
type record struct {
	key   string
	value []byte
	row
}

// row is where a record is, and its checksum.
type row struct {
	id  int64
	sum uint32
}

// readAll reads a store and believes nothing of it: it returns the manifest and
// the records in the order of their keys, or why it is none. It sees one moment,
// also beside a host that writes.
func readAll(ctx context.Context, c *conn, path string) (m manifest, records []record, err error) {
	defer func() { err = reading(path, err) }()
	if err := c.exec(ctx, "BEGIN"); err != nil {
		return m, nil, err
	}
	defer func() { err = errors.Join(err, c.exec(context.WithoutCancel(ctx), "ROLLBACK")) }()
	if m, err = readManifest(ctx, c, path); err != nil {
		return m, nil, err
	}
	if err := checkForm(ctx, c); err != nil {
		return m, nil, err
	}
	records, err = readRecords(ctx, c, m)
	return m, records, err
}

// readManifest comes first: a newer version may have another form.
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
		return m, fmt.Errorf("%s: %w: it has format %d, this program knows %d; use a newer ahp-canvas, or give this one another folder with --state",
			path, channels.ErrStoreNewer, version, format)
	case version < format:
		return m, fmt.Errorf("format %d never was", version)
	}
	return m, nil
}

// readAlone reads the manifest of a file without its log, or returns nil where that
// says nothing by itself: a checkpoint was under way, and the log has what is missing.
func readAlone(ctx context.Context, path string) (*manifest, error) {
	c, err := connect(ctx, path, frozen)
	if err != nil {
		return nil, ctx.Err()
	}
	m, err := readManifest(ctx, c, path)
	if err = errors.Join(err, c.close()); err != nil {
		return nil, ctx.Err()
	}
	return &m, nil
}

// checkForm checks what the records do not show: the tables, the journal's mode
// (a file that lost it would ignore its log) and SQLite's own structures, such as
// the list of free pages, on which later writes rely.
func checkForm(ctx context.Context, c *conn) error {
	if c.mode != frozen { // where nothing is written, there is no such mode
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
		if text != nil { // a table's own index has no text
			all = append(all, *text)
		}
	}
	return all, rows.Err()
}

// readRecords checks each record, and all of them against the manifest.
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
		var id, key, value, crc any // the types are not believed either
		if err := rows.Scan(&id, &key, &value, &crc); err != nil {
			return nil, err
		}
		r, err := checkRecord(id, key, value, crc)
		if err != nil {
			return nil, err
		}
		if r.id <= last {
			return nil, fmt.Errorf("record %.100q is not in its place", r.key)
		}
		records, last, sum = append(records, r), r.id, sum+uint64(r.sum)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(records) != m.Records || sum != m.Sum {
		return nil, fmt.Errorf("its %d records are not the %d that its manifest speaks of", len(records), m.Records)
	}
	return records, sortRecords(records)
}

func checkRecord(id, key, value, crc any) (record, error) {
	i, ok1 := id.(int64)
	k, ok2 := key.([]byte)
	v, ok3 := value.([]byte)
	want, ok4 := crc.(int64)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return record{}, errors.New("a record has columns of a wrong type")
	}
	r := record{key: string(k), value: v, row: row{id: i}}
	if r.sum = recordSum(k, r.value); int64(r.sum) != want {
		return r, fmt.Errorf("record %.100q does not match its checksum", r.key)
	}
	return r, nil
}

// sortRecords brings records into the order of their keys, of which each must be
// there once.
func sortRecords(records []record) error {
	slices.SortFunc(records, func(a, b record) int { return strings.Compare(a.key, b.key) })
	for i := range records[:max(len(records)-1, 0)] {
		if records[i].key == records[i+1].key {
			return fmt.Errorf("record %.100q is there twice", records[i].key)
		}
	}
	return nil
}
