package budget

import (
	"context"
	"sync/atomic"
	"time"
)

// Account counts what one connection holds. Its methods may be called concurrently and
// under any lock, except Wait, which waits.
type Account struct {
	token  *token
	held   atomic.Int64 // with what it shares with others
	own    atomic.Int64 // without
	stuck  atomic.Int64 // the time since which it has held more than little, in ns; 0 if it has not
	holder Holder
}

// Holder is a connection that has an account.
type Holder interface {
	// CloseHolder closes the connection because it holds too much. It must not wait.
	CloseHolder(reason string)
}

// HolderFunc is a function that implements Holder.
type HolderFunc func(reason string)

// CloseHolder calls f.
func (f HolderFunc) CloseHolder(reason string) { f(reason) }

// Open returns the account of a new connection with a token's name.
func (l *Ledger) Open(name string, holder Holder) *Account {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tokens[name]
	if t == nil {
		t = &token{ledger: l, name: name}
		l.tokens[name] = t
	}
	t.conns++
	a := &Account{token: t, holder: holder}
	l.accounts[a] = struct{}{}
	return a
}

// Close ends an account. Bytes that it still holds are given back when their holders do.
func (a *Account) Close() {
	if a == nil {
		return
	}
	l := a.token.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.accounts[a]; !open {
		return
	}
	delete(l.accounts, a)
	if a.token.conns--; a.token.conns == 0 && l.tokens[a.token.name] == a.token {
		delete(l.tokens, a.token.name)
	}
}

// little is what a connection may always hold: it is not closed for that.
const little = 256 << 10

// Add counts n bytes that the connection holds already.
func (a *Account) Add(k Kind, n int64) {
	if a == nil || n == 0 {
		return
	}
	a.own.Add(n)
	a.token.held.Add(n)
	a.note(n)
	a.token.ledger.Add(k, n)
}

// Share counts n bytes that the connection holds together with others, and that the
// ledger counts elsewhere. n may be negative.
func (a *Account) Share(n int64) {
	if a != nil {
		a.note(n)
	}
}

// Give gives n bytes back.
func (a *Account) Give(k Kind, n int64) { a.Add(k, -n) }

// note counts n bytes, and since when they are more than little. Giving something back
// is progress, so the time begins again.
func (a *Account) note(n int64) {
	switch now := a.held.Add(n); {
	case now <= little:
		if a.stuck.Load() != 0 {
			a.stuck.Store(0)
		}
	case n < 0 || a.stuck.Load() == 0:
		a.stuck.Store(time.Now().UnixNano())
	}
}

// Take counts n bytes that the connection wants to hold. It returns ErrFull, and counts
// nothing, if that is more than the connection, its token or the host may have.
func (a *Account) Take(k Kind, n int64) error {
	if a == nil {
		return nil
	}
	l := a.token.ledger
	if a.held.Load()+n > l.perAccount() || a.token.held.Load()+n > l.perToken() || !l.Fits(k, n) {
		l.refused.Add(1)
		l.pressed[k].Store(true)
		l.relieve()
		return ErrFull
	}
	a.Add(k, n)
	return nil
}

// The longest pause between two tries of Wait, and the shortest.
const (
	shortPause = time.Millisecond
	longPause  = 50 * time.Millisecond
)

// Wait is Take that waits for others to give bytes back, at most for a time.
func (a *Account) Wait(ctx context.Context, within time.Duration, k Kind, n int64) error {
	err := a.Take(k, n)
	if err == nil {
		return nil
	}
	timer := time.NewTimer(shortPause)
	defer timer.Stop()
	for begun, pause := time.Now(), shortPause; time.Since(begun) < within; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		if err = a.Take(k, n); err == nil {
			return nil
		}
		pause = min(2*pause, longPause)
		timer.Reset(pause)
	}
	return err
}
