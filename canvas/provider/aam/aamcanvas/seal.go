package aamcanvas

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// CodeNotSealed refuses a secret that a page sent in the clear. Such a message is kept for
// its client, so the secret must be replaced.
const CodeNotSealed = "aam_not_sealed"

// sealInfo separates these keys from other uses of the same exchange. seal.js has it too.
const sealInfo = "ahp-canvas aam seal 1"

// Sealed is a secret on its way from a page to the provider: encrypted for a key that the
// provider gave to that View alone, with AES-256-GCM under HKDF-SHA-256 of a P-256
// exchange. A View's message is kept and sent again to a client that reconnects under the
// same id, so a secret must not be readable in it.
type Sealed struct {
	// To names the provider's key.
	To string `json:"to"`
	// Key is the page's public key, uncompressed, in base64.
	Key string `json:"key"`
	// IV is the nonce, in base64.
	IV string `json:"iv"`
	// Box is the encrypted secret with its tag, in base64.
	Box string `json:"box"`
}

// sealKeys are the keys that Views seal their next secret for. Each is good for one try.
type sealKeys struct {
	mu   sync.Mutex
	keys map[canvas.View]sealKey
}

type sealKey struct {
	id      string
	private *ecdh.PrivateKey
}

// fresh replaces a View's key, and returns the message that gives it the new one.
func (s *sealKeys) fresh(v canvas.View) (keyMessage, error) {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return keyMessage{}, err
	}
	k := sealKey{rand.Text(), private}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = map[canvas.View]sealKey{}
	}
	if _, known := s.keys[v]; !known && len(s.keys) >= maxSealKeys {
		return keyMessage{}, errors.New("too many pages are open")
	}
	s.keys[v] = k
	return keyMessage{"key", k.id, base64.StdEncoding.EncodeToString(private.PublicKey().Bytes())}, nil
}

// maxSealKeys bounds the keys of one instance.
const maxSealKeys = 1024

// keyMessage gives one View the key for its next secret.
type keyMessage struct {
	AAM string `json:"aam"` // "key"
	To  string `json:"to"`
	Key string `json:"key"`
}

// gone forgets a View.
func (s *sealKeys) gone(v canvas.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, v)
}

var errSeal = canvas.Errorf(CodeNotSealed, "the secret was sealed for an earlier state of this page; enter it again")

// open returns a View's secret. about is what the secret was entered for: the page has
// authenticated the same texts. The key is used up, also if the box cannot be opened.
func (s *sealKeys) open(v canvas.View, box *Sealed, about ...string) ([]byte, error) {
	if box == nil {
		return nil, errSeal
	}
	s.mu.Lock()
	k, ok := s.keys[v]
	delete(s.keys, v)
	s.mu.Unlock()
	if !ok || k.id != box.To {
		return nil, errSeal
	}
	secret, err := unseal(k.private, *box, strings.Join(about, "\n"))
	if err != nil {
		return nil, errSeal // the reason would tell a page how to look for a key
	}
	return secret, nil
}

func unseal(private *ecdh.PrivateKey, box Sealed, about string) ([]byte, error) {
	b64 := base64.StdEncoding.Strict()
	raw, err1 := b64.DecodeString(box.Key)
	iv, err2 := b64.DecodeString(box.IV)
	sealed, err3 := b64.DecodeString(box.Box)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	public, err := ecdh.P256().NewPublicKey(raw)
	if err != nil {
		return nil, err
	}
	shared, err := private.ECDH(public)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, shared, nil, sealInfo, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil || len(iv) != gcm.NonceSize() {
		return nil, errSeal
	}
	return gcm.Open(nil, iv, sealed, []byte(about))
}
