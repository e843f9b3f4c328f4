package relay

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay/signed"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relaykey"
)

// pattern reports whether --host is a pattern of a signed client token.
func (o tokenOptions) pattern() bool {
	name, found := strings.CutSuffix(o.host, "*")
	return found && o.sign != "" && o.kind == "client" && relay.ValidName(name)
}

// signed makes signed tokens.
func (o tokenOptions) signed(audiences []relay.Audience) (relaykey.Key, error) {
	signer, err := signingKey(o.sign)
	if err != nil {
		return relaykey.Key{}, fmt.Errorf("signing key: %w", err)
	}
	key := relaykey.Key{Host: o.host}
	for _, audience := range audiences {
		claims := signed.Claims{
			Audience: audience, Hosts: []string{o.host}, Subject: cmp.Or(o.subject, strings.TrimRight(o.host, "*"), "clients"), Expires: time.Now().Add(o.valid).Unix(),
		}
		if audience == relay.ForClient {
			claims.ClientID, claims.Lanes = o.clientID, o.lanes
		}
		token, claims, err := signed.Sign(signer, claims)
		if err != nil {
			return relaykey.Key{}, err
		}
		if audience == relay.ForHost {
			key.HostToken, key.HostTokenID = token, claims.ID
		} else {
			key.ClientToken, key.ClientTokenID = token, claims.ID
		}
	}
	return key, nil
}

// signingKey reads a private key, or creates it with its public key beside it.
func signingKey(name string) (ed25519.PrivateKey, error) {
	data, err := os.ReadFile(name)
	if err == nil {
		key, err := signed.ParsePrivateKey(data)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		return key, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	private, public, err := signed.EncodeKey(key)
	if err != nil {
		return nil, err
	}
	// The private key last: without it, the next call makes both.
	if err := os.WriteFile(name+".pub", public, 0o644); err != nil {
		return nil, err
	}
	return key, durable.Replace(name, private)
}
