package x402

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// Signer signs authorizations of one account.
type Signer interface {
	// Address is the account that pays on a network; false if it does not pay there.
	Address(n Network) (Address, bool)
	// Sign returns the signature: 65 bytes of a key, or what a smart account takes.
	Sign(ctx context.Context, data TypedData) ([]byte, error)
}

// ErrRealMoney is the error of a key that is asked to sign for another than a test network.
var ErrRealMoney = errors.New("the key signs for base-sepolia only; use a wallet program for real money")

// Key is a private key for test networks. It implements [Signer].
type Key struct{ secret *secp256k1.PrivateKey }

// GenerateKey returns a new key.
func GenerateKey() (Key, error) {
	secret, err := secp256k1.GeneratePrivateKeyFromRand(rand.Reader)
	return Key{secret}, err
}

// ParseKey reads a key: 64 hex digits, with or without 0x. Its errors do not quote it.
func ParseKey(s string) (Key, error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(s), "0x"))
	var n secp256k1.ModNScalar
	if err != nil || len(raw) != 32 || n.SetByteSlice(raw) || n.IsZero() {
		return Key{}, errors.New("not a private key: want 64 hex digits")
	}
	return Key{secp256k1.NewPrivateKey(&n)}, nil
}

// Text returns the key as ParseKey reads it.
func (k Key) Text() string { return hex.EncodeToString(k.secret.Serialize()) }

// String hides the key, so that no log has it.
func (k Key) String() string { return "key of " + addressOf(k.secret.PubKey()).String() }

// GoString is String.
func (k Key) GoString() string { return k.String() }

// Account returns the address of the key.
func (k Key) Account() Address { return addressOf(k.secret.PubKey()) }

// Address implements Signer.
func (k Key) Address(n Network) (Address, bool) { return k.Account(), n.Test }

// Sign implements Signer. It refuses every network but a test network.
func (k Key) Sign(_ context.Context, data TypedData) ([]byte, error) {
	if known, ok := NetworkOf(data.Network.Name); !ok || known != data.Network || !known.Test {
		return nil, ErrRealMoney
	}
	digest := data.Digest()
	compact := ecdsa.SignCompact(k.secret, digest[:], false)
	return append(compact[1:65:65], compact[0]), nil
}

// maxLife is how long an authorization is good at most.
const maxLife = 600 * time.Second

// Authorize returns the authorization of exactly a price, with a random nonce. It is good
// for the site's timeout, 10 minutes at most.
func Authorize(from Address, price Price, timeout time.Duration, now time.Time) (TypedData, error) {
	var nonce Word
	if _, err := rand.Read(nonce[:]); err != nil {
		return TypedData{}, fmt.Errorf("no random nonce: %w", err)
	}
	if timeout <= 0 || timeout > maxLife {
		timeout = maxLife
	}
	return TypedData{price.Network, Authorization{
		From: from, To: price.PayTo, Value: price.Amount,
		ValidBefore: seconds(now.Add(timeout)), Nonce: nonce,
	}}, nil
}
