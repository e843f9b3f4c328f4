package seal

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
)

// keySize is the size of an X25519 key, in bytes.
const keySize = 32

// PublicKey is the public key of a host. Links have its text.
type PublicKey [keySize]byte

// String returns the key as text that fits into a URL's fragment.
func (k PublicKey) String() string { return base64.RawURLEncoding.EncodeToString(k[:]) }

// ParsePublicKey parses the text of a public key.
func ParsePublicKey(text string) (PublicKey, error) {
	b, err := decodeKey(text)
	if err != nil {
		return PublicKey{}, fmt.Errorf("the host's public key: %w", err)
	}
	return PublicKey(b), nil
}

// Key is the key pair of a host. The zero value is no key.
type Key struct{ private *ecdh.PrivateKey }

// NewKey makes a random key pair.
func NewKey() Key {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return Key{private}
}

// ParseKey parses the text of a key pair.
func ParseKey(text string) (Key, error) {
	b, err := decodeKey(text)
	if err != nil {
		return Key{}, fmt.Errorf("the host's key: %w", err)
	}
	private, err := ecdh.X25519().NewPrivateKey(b)
	if err != nil {
		return Key{}, fmt.Errorf("the host's key: %w", err)
	}
	return Key{private}, nil
}

// Public returns the public key.
func (k Key) Public() PublicKey { return PublicKey(k.private.PublicKey().Bytes()) }

// Secret returns the text of the key pair, for the file that keeps it. Its holder can
// pass for the host, but cannot read what was sealed before.
func (k Key) Secret() string { return base64.RawURLEncoding.EncodeToString(k.private.Bytes()) }

// decodeKey decodes the only text that a key has.
func decodeKey(text string) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != keySize {
		return nil, errors.New("want 43 characters of base64url, from a link that \"ahp-canvas serve\" printed")
	}
	return b, nil
}
