package signed

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/jws"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

// Claims are the rights of a token.
type Claims struct {
	// Audience is the endpoint for which the token is valid.
	Audience relay.Audience `json:"aud"`
	// Hosts are the hosts for which the token is valid: names, relay.AnyHost, or a name's
	// beginning with an asterisk, as in team-*.
	Hosts []string `json:"hosts"`
	// Subject names the holder.
	Subject string `json:"sub"`
	// ID is the token's id; Sign makes one if it is "".
	ID string `json:"jti"`
	// Expires is when the token expires, in Unix seconds.
	Expires int64 `json:"exp"`
	// NotBefore is from when on the token is valid, in Unix seconds; 0 means at once.
	NotBefore int64 `json:"nbf,omitzero"`
	// ClientID is the only client id that the holder may use; "" allows any.
	ClientID string `json:"cid,omitzero"`
	// Lanes is how many lanes a client may have at once; 0 is the edge's limit.
	Lanes int `json:"lanes,omitzero"`
}

// tokenType is the type in a token's header. It keeps tokens that the same key signed for
// other purposes from counting here.
const tokenType = "ahp-relay+jwt"

// tokenLimit limits a token in bytes.
const tokenLimit = 2 << 10

// check returns what is wrong with the claims.
func (c Claims) check() error {
	switch {
	case c.Audience != relay.ForHost && c.Audience != relay.ForClient:
		return fmt.Errorf(`audience is %q, neither "host" nor "client"`, c.Audience)
	case len(c.Hosts) == 0 || slices.ContainsFunc(c.Hosts, func(h string) bool { return !validHost(h) }):
		return fmt.Errorf("hosts is %q; it must have host names or patterns as in team-*", c.Hosts)
	case c.Subject == "" || len(c.Subject) > 128:
		return fmt.Errorf("subject has %d bytes; it must have 1 to 128 bytes", len(c.Subject))
	case !validID(c.ID):
		return errors.New("id is not 1 to 64 of a-z, A-Z, 0-9, - and _")
	case c.Expires <= 0:
		return errors.New("the token never expires; it must have an expiry")
	case c.NotBefore < 0 || c.Lanes < 0 || len(c.ClientID) > 256:
		return errors.New("nbf, lanes or cid is not valid")
	}
	return nil
}

func validHost(h string) bool {
	name, pattern := strings.CutSuffix(h, "*")
	return h == relay.AnyHost || relay.ValidName(name) && (pattern || name == h)
}

func validID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// validFor reports whether the token is valid for a host.
func (c Claims) validFor(host string) bool {
	return slices.ContainsFunc(c.Hosts, func(h string) bool {
		begin, pattern := strings.CutSuffix(h, "*")
		return h == host || pattern && strings.HasPrefix(host, begin)
	})
}

// Sign makes a token, and returns it with its claims, which have an id.
func Sign(key ed25519.PrivateKey, c Claims) (string, Claims, error) {
	if c.ID == "" {
		var b [12]byte
		_, _ = rand.Read(b[:]) // never fails
		c.ID = hex.EncodeToString(b[:])
	}
	if err := c.check(); err != nil {
		return "", c, fmt.Errorf("signed token: %w", err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, (&jose.SignerOptions{}).WithType(tokenType))
	if err != nil {
		return "", c, fmt.Errorf("signed token: %w", err)
	}
	object, err := signer.Sign(ahp.MustMarshal(c))
	if err != nil {
		return "", c, fmt.Errorf("signed token: %w", err)
	}
	token, err := object.CompactSerialize()
	if err == nil && len(token) > tokenLimit {
		err = fmt.Errorf("signed token: it has %d bytes, above the limit of %d; shorten the list of hosts", len(token), tokenLimit)
	}
	return token, c, err
}

// Errors of verify. Their texts are reasons for the log.
var (
	errForm      = errors.New("it is no token of this kind, or its algorithm is not EdDSA")
	errSignature = errors.New("no key of this relay signed it")
	errClaims    = errors.New("its claims are not valid")
)

// verify returns the claims of a token that one of the keys signed.
func verify(token string, keys []ed25519.PublicKey) (Claims, error) {
	if len(token) > tokenLimit {
		return Claims{}, errForm
	}
	object, err := jws.Parse(token, jose.EdDSA)
	if err != nil || len(object.Signatures) != 1 {
		return Claims{}, errForm
	}
	header := object.Signatures[0].Protected
	if header.Algorithm != string(jose.EdDSA) || header.ExtraHeaders[jose.HeaderType] != tokenType || header.JSONWebKey != nil {
		return Claims{}, errForm
	}
	for _, key := range keys {
		data, err := object.Verify(key)
		if err != nil {
			continue
		}
		var c Claims
		if ahp.Unmarshal(data, &c) != nil || c.check() != nil {
			return Claims{}, errClaims
		}
		return c, nil
	}
	return Claims{}, errSignature
}

// EncodeKey returns a key pair as PEM files: PKCS #8 and PKIX.
func EncodeKey(key ed25519.PrivateKey) (private, public []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	pub, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub}), nil
}

// ParsePrivateKey parses a PEM file with an Ed25519 private key in PKCS #8.
func ParsePrivateKey(data []byte) (ed25519.PrivateKey, error) {
	if block, _ := pem.Decode(data); block != nil && block.Type == "PRIVATE KEY" {
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if key, ok := key.(ed25519.PrivateKey); ok {
				return key, nil
			}
		}
	}
	return nil, errors.New("want a PEM file with an Ed25519 private key (PKCS #8)")
}

// ParsePublicKey parses a PEM file with an Ed25519 public key.
func ParsePublicKey(data []byte) (ed25519.PublicKey, error) {
	if block, _ := pem.Decode(data); block != nil && block.Type == "PUBLIC KEY" {
		if key, err := x509.ParsePKIXPublicKey(block.Bytes); err == nil {
			if key, ok := key.(ed25519.PublicKey); ok {
				return key, nil
			}
		}
	}
	return nil, errors.New("want a PEM file with an Ed25519 public key")
}
