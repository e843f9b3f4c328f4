package relay

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// AnyHost in TokenEntry.Hosts stands for every host.
const AnyHost = "*"

// TokenEntry describes one token of a token file. The file holds hashes only. A
// token is 256 random bits, so an unsalted hash is enough.
type TokenEntry struct {
	// SHA256 is the hash of the token, in lower-case hex.
	SHA256 string `json:"sha256"`
	// Audience is the endpoint for which the token is valid.
	Audience Audience `json:"audience"`
	// Subject names the holder.
	Subject string `json:"subject"`
	// Hosts are the hosts for which the token is valid: names, or AnyHost.
	Hosts []string `json:"hosts"`
	// ClientID is the only client id that the holder may use; "" allows any.
	ClientID string `json:"clientId,omitzero"`
	// Lanes is how many lanes a client may have at once; 0 is the edge's limit.
	Lanes int `json:"lanes,omitzero"`
	// Expires is when the token stops being valid; the zero time means never.
	Expires time.Time `json:"expires,omitzero"`
}

// TokenFile is the content of a token file.
type TokenFile struct {
	// Tokens are the valid tokens.
	Tokens []TokenEntry `json:"tokens"`
}

// Mint makes a token and returns it with e completed by its hash. The caller must
// hand the token over: it is stored nowhere.
func Mint(e TokenEntry) (token string, complete TokenEntry) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(b[:])
	e.SHA256 = hash(token)
	return token, e
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// ParseTokens parses a token file. It returns an error for an entry that no token
// can match, or that the empty token would match.
func ParseTokens(data []byte) (TokenFile, error) {
	var f TokenFile
	if err := ahp.Unmarshal(data, &f); err != nil {
		return TokenFile{}, fmt.Errorf("token file: %w", err)
	}
	seen := map[string]bool{}
	for i, e := range f.Tokens {
		if err := e.check(); err != nil {
			return TokenFile{}, fmt.Errorf("token file: token %d: %w", i+1, err)
		}
		if seen[e.SHA256] {
			return TokenFile{}, fmt.Errorf("token file: token %d is listed twice", i+1)
		}
		seen[e.SHA256] = true
	}
	return f, nil
}

func (e TokenEntry) check() error {
	sum, err := hex.DecodeString(e.SHA256)
	switch {
	case err != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != e.SHA256:
		return errors.New("sha256 is not 64 lower-case hex digits")
	case e.SHA256 == hash(""):
		return errors.New("sha256 is the hash of the empty token")
	case e.Audience != ForHost && e.Audience != ForClient:
		return fmt.Errorf(`audience is %q, neither "host" nor "client"`, e.Audience)
	case e.Subject == "" || len(e.Subject) > 128:
		return fmt.Errorf("subject has %d bytes; it must have 1 to 128 bytes", len(e.Subject))
	case len(e.ClientID) > 256:
		return errors.New("clientId is longer than 256 bytes")
	case len(e.Hosts) == 0 || slices.ContainsFunc(e.Hosts, func(h string) bool { return h != AnyHost && !ValidName(h) }):
		return fmt.Errorf(`hosts is %q; it must have host names, or "*" for every host`, e.Hosts)
	case e.Lanes < 0:
		return fmt.Errorf("lanes is %d; it must not be negative", e.Lanes)
	}
	return nil
}

// validFor reports whether the token is valid for a host.
func (e TokenEntry) validFor(host string) bool {
	return slices.Contains(e.Hosts, host) || slices.Contains(e.Hosts, AnyHost)
}

// Encode returns the file as indented JSON.
func (f TokenFile) Encode() []byte {
	v := ahp.MustMarshal(f)
	_ = v.Indent()
	return append(v, '\n')
}
