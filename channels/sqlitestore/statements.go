package sqlitestore

import (
	"context"
	"database/sql/driver"
	"strings"
)

// statements are the prepared statements of a commit. They are the driver's own,
// because database/sql would convert each argument and take locks that are not needed
// here. They are used in conn.Raw.
type statements struct {
	begin, put, putMany, delete, manifest, commit, rollback driver.Stmt
}

// manyRecords is the number of records that putMany writes.
const manyRecords = 8

func (s *statements) all() map[string]*driver.Stmt {
	return map[string]*driver.Stmt{
		"BEGIN IMMEDIATE": &s.begin, putRecord: &s.put, putRecord + strings.Repeat(", (?, ?, ?, ?)", manyRecords-1): &s.putMany,
		deleteRecord: &s.delete, putManifest: &s.manifest, "COMMIT": &s.commit, "ROLLBACK": &s.rollback,
	}
}

func (s *statements) prepare(ctx context.Context, c *conn) error {
	return c.Raw(func(dc any) (err error) {
		for query, to := range s.all() {
			if *to, err = dc.(driver.ConnPrepareContext).PrepareContext(ctx, query); err != nil {
				return err
			}
		}
		return nil
	})
}

// close closes the statements. It must be called before the connection is closed:
// SQLite removes the log only if nothing uses it.
func (s *statements) close(c *conn) {
	_ = c.Raw(func(any) error {
		for _, stmt := range s.all() {
			if *stmt != nil {
				_ = (*stmt).Close()
			}
		}
		return nil
	})
}

// run runs a statement. It cannot be canceled.
func run(s driver.Stmt, args ...driver.NamedValue) error {
	for i := range args {
		args[i].Ordinal = i + 1
	}
	_, err := s.(driver.StmtExecContext).ExecContext(context.Background(), args)
	return err
}

func arg(v driver.Value) driver.NamedValue { return driver.NamedValue{Value: v} }

// putAll writes records, several with one statement: running a statement costs about
// as much as a record.
func (s *statements) putAll(changes []change) error {
	args := make([]driver.NamedValue, 0, 4*manyRecords)
	for i := range changes {
		c := &changes[i]
		if c.Delete {
			continue
		}
		args = append(args, arg(c.id), arg(c.key), arg(blob(c.Value)), arg(int64(c.sum)))
		if len(args) == cap(args) {
			if err := run(s.putMany, args...); err != nil {
				return err
			}
			args = args[:0]
		}
	}
	for ; len(args) > 0; args = args[4:] {
		if err := run(s.put, args[:4]...); err != nil {
			return err
		}
	}
	return nil
}

// deleteAll deletes the records that exist.
func (s *statements) deleteAll(changes []change) error {
	for i := range changes {
		if c := &changes[i]; c.Delete && c.id != 0 {
			if err := run(s.delete, arg(c.id)); err != nil {
				return err
			}
		}
	}
	return nil
}
