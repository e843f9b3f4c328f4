package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// conn is one connection to SQLite. It is used by one goroutine at a time.
type conn struct {
	*sql.Conn
	db   *sql.DB
	mode string
}

// The modes in which a file is opened.
const (
	readWrite = "mode=rw"
	readOnly  = "mode=ro"             // while a host has it; creates the -shm file if there is none
	immutable = "mode=ro&immutable=1" // while no process writes it; creates no file
)

// pragmas are set on every connection. The writer decides when checkpoints run. Memory
// mapping is off, because a truncated file would crash the process.
var pragmas = []string{
	"synchronous(FULL)", "wal_autocheckpoint(0)", "journal_size_limit(8388608)", "mmap_size(0)", "cache_size(-32768)",
	"cell_size_check(ON)", "trusted_schema(OFF)", "temp_store(MEMORY)", "busy_timeout(2000)",
}

// connect opens an existing file.
func connect(ctx context.Context, path, mode string) (*conn, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	at := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(abs), "/")}
	query := url.Values{"_defensive": {"1"}, "_pragma": pragmas}
	connector, err := sqlite.NewConnector(at.String() + "?" + mode + "&" + query.Encode())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &conn{c, db, mode}, nil
}

func (c *conn) close() error { return errors.Join(c.Conn.Close(), c.db.Close()) }

// exec runs a statement that is not prepared.
func (c *conn) exec(ctx context.Context, query string, args ...any) error {
	_, err := c.ExecContext(ctx, query, args...)
	return err
}

// checkpoint copies the log into the file and syncs the file. The kind TRUNCATE also
// empties the log. whole is false if a reader prevented that.
func (c *conn) checkpoint(ctx context.Context, kind string) (whole bool, err error) {
	var busy, log, done int
	err = c.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+kind+")").Scan(&busy, &log, &done)
	return busy == 0 && log == done, err
}
