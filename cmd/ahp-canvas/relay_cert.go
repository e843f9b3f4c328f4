package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a key pair in files that are renewed while the relay runs.
type certificate struct {
	cert, key string
	logger    *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	made   time.Time // of the file
	looked time.Time
}

// certificateLook is how often the files are looked at.
const certificateLook = time.Minute

func (c *certificate) load() error {
	info, err := os.Stat(c.cert)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	c.pair, c.made, c.looked = &pair, info.ModTime(), time.Now()
	return nil
}

// get returns the pair for a handshake; while the new files cannot be used, the
// last ones hold.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= certificateLook {
		c.looked = time.Now()
		if info, err := os.Stat(c.cert); err != nil || !info.ModTime().Equal(c.made) {
			if err := c.load(); err != nil {
				c.logger.Error("the certificate cannot be renewed: the last one holds", "err", err)
			}
		}
	}
	return c.pair, nil
}
