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

// AnyHost in a token's hosts is every host.
const AnyHost = "*"

// TokenRow is one token of a token file. The file holds no token, only hashes:
// a token is 256 random bits, so that a plain hash cannot be turned back.
type TokenRow struct {
	// SHA256 is the hash of the token, in lower-case hex.
	SHA256   string   `json:"sha256"`
	Audience Audience `json:"audience"`
	Subject  string   `json:"subject"`
	Hosts    []string `json:"hosts"` // names, or AnyHost
	// ClientID is the only client id that the holder may claim; "" is any.
	ClientID string `json:"clientId,omitzero"`
	// Lanes is how many lanes a client may have at once; 0 is the edge's limit.
	Lanes int `json:"lanes,omitzero"`
	// Expires ends the token; the zero time is never.
	Expires time.Time `json:"expires,omitzero"`
}

// TokenFile is the content of a token file.
type TokenFile struct {
	Tokens []TokenRow `json:"tokens"`
}

// Mint makes a token and completes the row with its hash. The token is shown
// once and kept nowhere.
func Mint(row TokenRow) (token string, complete TokenRow) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(b[:])
	row.SHA256 = hash(token)
	return token, row
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// ParseTokens reads a token file and refuses one that has a row which could
// never, or would always, let somebody in.
func ParseTokens(data []byte) (TokenFile, error) {
	var f TokenFile
	if err := ahp.Unmarshal(data, &f); err != nil {
		return TokenFile{}, fmt.Errorf("token file: %w", err)
	}
	seen := map[string]bool{}
	for i, row := range f.Tokens {
		if err := row.check(); err != nil {
			return TokenFile{}, fmt.Errorf("token file: token %d: %w", i+1, err)
		}
		if seen[row.SHA256] {
			return TokenFile{}, fmt.Errorf("token file: token %d stands there twice", i+1)
		}
		seen[row.SHA256] = true
	}
	return f, nil
}

func (r TokenRow) check() error {
	sum, err := hex.DecodeString(r.SHA256)
	switch {
	case err != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != r.SHA256:
		return errors.New("sha256 is not 64 lower-case hex digits")
	case r.SHA256 == hash(""):
		return errors.New("sha256 is the hash of nothing")
	case r.Audience != ForHost && r.Audience != ForClient:
		return errors.New(`audience is neither "host" nor "client"`)
	case r.Subject == "" || len(r.Subject) > 128:
		return errors.New("subject has 1 to 128 bytes")
	case len(r.ClientID) > 256:
		return errors.New("clientId is longer than 256 bytes")
	case len(r.Hosts) == 0 || slices.ContainsFunc(r.Hosts, func(h string) bool { return h != AnyHost && !ValidName(h) }):
		return errors.New(`hosts is empty, or names what is no host name ("*" is every host)`)
	case r.Lanes < 0:
		return errors.New("lanes is negative")
	}
	return nil
}

// good reports whether the token is good for a host.
func (r TokenRow) good(host string) bool {
	return slices.Contains(r.Hosts, host) || slices.Contains(r.Hosts, AnyHost)
}

// Encode returns the file's bytes.
func (f TokenFile) Encode() []byte {
	v := ahp.MustMarshal(f)
	_ = v.Indent()
	return append(v, '\n')
}
