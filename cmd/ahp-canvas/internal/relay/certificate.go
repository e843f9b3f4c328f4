package relay

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a key pair in files that can be renewed while the relay runs.
type certificate struct {
	cert, key string
	logger    *slog.Logger

	mu       sync.Mutex
	pair     *tls.Certificate
	modified time.Time // of the certificate's file
	checked  time.Time
}

// certificateInterval is how often the files are checked, at most.
const certificateInterval = time.Minute

func (c *certificate) load() error {
	info, err := os.Stat(c.cert)
	if err != nil {
		return fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	c.pair, c.modified, c.checked = &pair, info.ModTime(), time.Now()
	return nil
}

// get returns the pair for a handshake. If renewed files cannot be loaded, it returns the
// pair of the last ones.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checked) >= certificateInterval {
		c.checked = time.Now()
		if info, err := os.Stat(c.cert); err != nil || !info.ModTime().Equal(c.modified) {
			if err := c.load(); err != nil {
				c.logger.Error("cannot load the renewed certificate; still using the previous one", "err", err)
			}
		}
	}
	return c.pair, nil
}
