package loopback

import (
	"context"
	"errors"
	"time"
)

// probe reports whether the app accepts connections. known is false if the app hangs or
// ctx is done.
func (a address) probe(ctx context.Context, dial DialFunc, within time.Duration) (up, known bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	conn, err := dial(ctx, "tcp", a.dial)
	switch {
	case err == nil:
		_ = conn.Close() // it carried nothing
		return true, true
	case refused(ctx, err):
		return false, true
	}
	return false, false
}

var errRefused = errors.New("loopback: the app does not accept connections")

// every calls fn until it returns false or ctx is done.
func every(ctx context.Context, interval time.Duration, fn func() bool) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if !fn() {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
