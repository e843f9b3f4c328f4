package relay

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"sync"
	"time"
)

// FileAuthorizer is an [Authorizer] that reads hashes of tokens from a file and
// polls it for changes. When an entry is removed, changes or expires, the edge
// ends the connections that its token opened. If the file cannot be read or
// parsed, the entries of the last good version stay valid and the log has an
// error.
type FileAuthorizer struct {
	name   string
	logger *slog.Logger

	mu      sync.Mutex
	tokens  map[string]*liveToken // by hash
	loaded  fs.FileInfo           // of the version that was loaded last
	failing bool                  // the last reload failed
}

// liveToken is an entry with a context that is canceled when it is no longer
// valid.
type liveToken struct {
	TokenEntry
	ctx context.Context
	end context.CancelFunc
}

// NewFileAuthorizer reads the file. Changes take effect only while Watch runs.
func NewFileAuthorizer(name string, logger *slog.Logger) (*FileAuthorizer, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	a := &FileAuthorizer{name: name, logger: logger, tokens: map[string]*liveToken{}}
	if err := a.load(); err != nil {
		return nil, err
	}
	return a, nil
}

// ReloadInterval is how often Watch checks the file for changes.
const ReloadInterval = 2 * time.Second

// Watch reloads the file when it changes, until ctx is canceled. Then it
// invalidates every token.
func (a *FileAuthorizer) Watch(ctx context.Context) {
	tick := time.NewTicker(ReloadInterval)
	defer tick.Stop()
	defer a.replace(nil)
	for {
		select {
		case <-tick.C:
			a.reload()
			a.expire(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// expire invalidates the tokens that have expired by the wall clock. The entries'
// timers miss a clock that jumps, for example after the machine was suspended.
func (a *FileAuthorizer) expire(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.tokens {
		if !t.Expires.IsZero() && !now.Before(t.Expires) {
			t.end()
		}
	}
}

// reload loads the file if it has changed or if the last load failed.
func (a *FileAuthorizer) reload() {
	info, err := os.Stat(a.name)
	a.mu.Lock()
	same := err == nil && a.loaded != nil && os.SameFile(info, a.loaded) && info.ModTime().Equal(a.loaded.ModTime()) && info.Size() == a.loaded.Size()
	failing := a.failing
	a.mu.Unlock()
	if same && !failing {
		return
	}
	if err := a.load(); err != nil && !failing {
		a.logger.Error("cannot load the token file; the tokens of its last version stay valid", "err", err)
		a.mu.Lock()
		a.failing = true
		a.mu.Unlock()
	} else if err == nil {
		a.logger.Info("token file loaded")
	}
}

// maxTokenFile limits the size of a token file in bytes.
const maxTokenFile = 16 << 20

func (a *FileAuthorizer) load() error {
	info, err := os.Stat(a.name) // before the read, so a change in between is loaded next time
	if err != nil {
		return err
	}
	if info.Size() > maxTokenFile {
		return fmt.Errorf("token file has %d bytes, above 16 MiB", info.Size())
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
	a.loaded, a.failing = info, false
	return nil
}

// replace installs new entries and invalidates the old ones that are not among
// them. An unchanged entry keeps its connections.
func (a *FileAuthorizer) replace(entries []TokenEntry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := map[string]*liveToken{}
	for _, e := range entries {
		if old := a.tokens[e.SHA256]; old != nil && reflect.DeepEqual(old.TokenEntry, e) {
			next[e.SHA256] = old
			continue
		}
		t := &liveToken{TokenEntry: e}
		if e.Expires.IsZero() {
			t.ctx, t.end = context.WithCancel(context.Background())
		} else {
			t.ctx, t.end = context.WithDeadline(context.Background(), e.Expires)
		}
		next[e.SHA256] = t
	}
	for sum, old := range a.tokens {
		if next[sum] != old {
			old.end()
		}
	}
	a.tokens = next
}

// Authorize checks a token (see [Authorizer]). It looks up the token's hash in a
// map: the timing of that lookup reveals nothing about a token, because a hash
// that begins like another one does not mean that the token does.
func (a *FileAuthorizer) Authorize(_ context.Context, audience Audience, token, host string) (Grant, error) {
	a.mu.Lock()
	t := a.tokens[hash(token)]
	a.mu.Unlock()
	switch {
	case t == nil || token == "" || !t.Expires.IsZero() && !time.Now().Before(t.Expires):
		return Grant{}, ErrUnknownToken
	case t.Audience != audience || !t.validFor(host):
		return Grant{}, ErrForbidden
	}
	return Grant{Subject: t.Subject, Token: t.SHA256, ClientID: t.ClientID, Lanes: t.Lanes, Valid: t.ctx}, nil
}
