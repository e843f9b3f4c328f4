package relay

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"sync"
	"time"
)

// FileAuthorizer is the [Authorizer] that is built in: a file of hashes, looked
// at again and again. A row that is gone or has changed ends what its token
// opened; so does the time that it expires. While the file cannot be read or
// understood the last one that could holds, and the log says so.
type FileAuthorizer struct {
	name   string
	logger *slog.Logger

	mu   sync.Mutex
	rows map[string]*validRow // by hash
	seen fs.FileInfo
	bad  bool // the last look failed
}

// validRow is a row with the context that ends with it.
type validRow struct {
	TokenRow
	ctx context.Context
	end context.CancelFunc
}

// NewFileAuthorizer reads the file for the first time. Watch picks up changes;
// without it the file is as it was.
func NewFileAuthorizer(name string, logger *slog.Logger) (*FileAuthorizer, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	a := &FileAuthorizer{name: name, logger: logger, rows: map[string]*validRow{}}
	if err := a.load(); err != nil {
		return nil, err
	}
	return a, nil
}

// LookEvery is how often Watch looks at the file.
const LookEvery = 2 * time.Second

// Watch looks at the file until ctx is done, and then ends what every token
// opened.
func (a *FileAuthorizer) Watch(ctx context.Context) {
	tick := time.NewTicker(LookEvery)
	defer tick.Stop()
	defer a.replace(nil)
	for {
		select {
		case <-tick.C:
			a.look()
			a.expire(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// expire ends what has run out by the clock. The rows' own timers do not see one that
// jumps, as after a machine was suspended.
func (a *FileAuthorizer) expire(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, row := range a.rows {
		if !row.Expires.IsZero() && !now.Before(row.Expires) {
			row.end()
		}
	}
}

// look loads the file where it is another than last time.
func (a *FileAuthorizer) look() {
	info, err := os.Stat(a.name)
	a.mu.Lock()
	same := err == nil && a.seen != nil && os.SameFile(info, a.seen) && info.ModTime().Equal(a.seen.ModTime()) && info.Size() == a.seen.Size()
	bad := a.bad
	a.mu.Unlock()
	if same && !bad {
		return
	}
	if err := a.load(); err != nil && !bad {
		a.logger.Error("the token file cannot be used: the last one holds", "err", err)
		a.mu.Lock()
		a.bad = true
		a.mu.Unlock()
	} else if err == nil {
		a.logger.Info("token file read")
	}
}

// maxTokenFile bounds the file in bytes.
const maxTokenFile = 16 << 20

func (a *FileAuthorizer) load() error {
	info, err := os.Stat(a.name) // before the read: what changes in between is seen next time
	if err != nil {
		return err
	}
	if info.Size() > maxTokenFile {
		return errors.New("token file: it is above 16 MiB")
	}
	data, err := os.ReadFile(a.name)
	if err != nil {
		return err
	}
	file, err := ParseTokens(data)
	if err != nil {
		return err
	}
	a.replace(file.Tokens)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen, a.bad = info, false
	return nil
}

// replace puts other rows in place. Those that stay as they were keep what they
// opened.
func (a *FileAuthorizer) replace(rows []TokenRow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := map[string]*validRow{}
	for _, row := range rows {
		if old := a.rows[row.SHA256]; old != nil && reflect.DeepEqual(old.TokenRow, row) {
			next[row.SHA256] = old
			continue
		}
		v := &validRow{TokenRow: row}
		if row.Expires.IsZero() {
			v.ctx, v.end = context.WithCancel(context.Background())
		} else {
			v.ctx, v.end = context.WithDeadline(context.Background(), row.Expires)
		}
		next[row.SHA256] = v
	}
	for sum, old := range a.rows {
		if next[sum] != old {
			old.end()
		}
	}
	a.rows = next
}

// Authorize implements [Authorizer]. The hash is looked up in a map: the time
// that takes tells nothing about a token, of which it is not a prefix.
func (a *FileAuthorizer) Authorize(_ context.Context, door Audience, token, host string) (Grant, error) {
	a.mu.Lock()
	row := a.rows[hash(token)]
	a.mu.Unlock()
	switch {
	case row == nil || token == "" || !row.Expires.IsZero() && !time.Now().Before(row.Expires):
		return Grant{}, ErrUnknownToken
	case row.Audience != door || !row.good(host):
		return Grant{}, ErrForbidden
	}
	return Grant{Subject: row.Subject, ClientID: row.ClientID, Lanes: row.Lanes, Valid: row.ctx}, nil
}
