package sqlitestore

import (
	"context"
	"database/sql/driver"
	"strings"
)

// statements are those of every commit, prepared once. They are the driver's own:
// database/sql would look at each argument of each record, and lock and unlock what
// nobody else has. They are used inside conn.Raw.
type statements struct {
	begin, put, putMany, drop, manifest, commit, rollback driver.Stmt
}

// manyRecords is how many records putMany puts.
const manyRecords = 8

func (s *statements) all() map[string]*driver.Stmt {
	return map[string]*driver.Stmt{
		"BEGIN IMMEDIATE": &s.begin, putRecord: &s.put, putRecord + strings.Repeat(", (?, ?, ?, ?)", manyRecords-1): &s.putMany,
		dropRecord: &s.drop, putManifest: &s.manifest, "COMMIT": &s.commit, "ROLLBACK": &s.rollback,
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

// close must come before that of the connection: SQLite removes a log only when
// nothing uses it any more.
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

// run runs a statement. No context can end it half way.
func run(s driver.Stmt, args ...driver.NamedValue) error {
	for i := range args {
		args[i].Ordinal = i + 1
	}
	_, err := s.(driver.StmtExecContext).ExecContext(context.Background(), args)
	return err
}

func arg(v driver.Value) driver.NamedValue { return driver.NamedValue{Value: v} }

// putAll puts records, many at a time: SQLite's way into a statement and out of it
// costs about as much as a record.
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

// dropAll removes records; one that never was there costs nothing.
func (s *statements) dropAll(changes []change) error {
	for i := range changes {
		if c := &changes[i]; c.Delete && c.id != 0 {
			if err := run(s.drop, arg(c.id)); err != nil {
				return err
			}
		}
	}
	return nil
}
