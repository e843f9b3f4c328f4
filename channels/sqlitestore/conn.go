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

// The ways to open a file.
const (
	readWrite = "mode=rw"
	readOnly  = "mode=ro"             // beside a host; needs the -shm file or a folder to make it in
	frozen    = "mode=ro&immutable=1" // nobody writes; makes no file
)

// pragmas are for every connection. Checkpoints run where the writer says so;
// nothing is mapped, because what is mapped can end the process when the file is
// cut.
var pragmas = []string{
	"synchronous(FULL)", "wal_autocheckpoint(0)", "journal_size_limit(8388608)", "mmap_size(0)", "cache_size(-32768)",
	"cell_size_check(ON)", "trusted_schema(OFF)", "temp_store(MEMORY)", "busy_timeout(2000)",
}

// connect opens a file that exists.
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

// exec runs a statement that is run once.
func (c *conn) exec(ctx context.Context, query string, args ...any) error {
	_, err := c.ExecContext(ctx, query, args...)
	return err
}

// checkpoint copies what the log holds into the file and syncs it. TRUNCATE
// empties the log, too. whole is false where a reader beside is in the way.
func (c *conn) checkpoint(ctx context.Context, kind string) (whole bool, err error) {
	var busy, log, done int
	err = c.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+kind+")").Scan(&busy, &log, &done)
	return busy == 0 && log == done, err
}
