package natsdir

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

// version is the version of all payloads.
const version = 1

// payloadLimit limits a payload in bytes.
const payloadLimit = 4 << 10

// offer asks the edge that has the host to pass a lane on to it.
type offer struct {
	V      int    `json:"v"`
	Lane   string `json:"lane"`
	Secret string `json:"secret"`
	Edge   string `json:"edge"` // the URL that the host dials
}

// answer is the response to an offer: a generation or an error.
type answer struct {
	V          int    `json:"v"`
	Generation int64  `json:"generation,omitzero"`
	Error      string `json:"error,omitzero"`
}

// The errors of an answer.
const (
	errorBusy    = "busy"    // relay.ErrBusy
	errorOffline = "offline" // the host has just left
	errorEdge    = "edge"    // the offer's edge is not in Options.Edges
	errorOffer   = "offer"   // the offer is not valid, or of another version
)

// news is a registration at an edge.
type news struct {
	V          int    `json:"v"`
	Edge       string `json:"edge"` // the id of the edge's run
	Generation int64  `json:"generation"`
	Connection int64  `json:"connection,omitzero"`
	Since      int64  `json:"since"` // Unix time in nanoseconds, by the edge's clock
}

// presence is a sign of life of an edge.
type presence struct {
	V       int    `json:"v"`
	Edge    string `json:"edge"` // the id of the edge's run
	Up      int64  `json:"up"`   // seconds since it started
	Leaving bool   `json:"leaving,omitzero"`
}

// payload is one of the structs above.
type payload interface{ check() bool }

func (o *offer) check() bool {
	return o.V == version && relay.ValidName(o.Lane) && o.Secret != "" && o.Edge != ""
}
func (a *answer) check() bool { return a.V == version && (a.Generation > 0) != (a.Error != "") }
func (n *news) check() bool {
	return n.V == version && validID(n.Edge) && n.Generation > 0 && n.Connection >= 0 && n.Since > 0
}
func (p *presence) check() bool { return p.V == version && validID(p.Edge) && p.Up >= 0 }

// validID reports whether s can be the id of an edge's run.
func validID(s string) bool { return len(s) == idLength && relay.ValidName(s) }

// decode decodes a payload that comes from NATS. Its error holds nothing of the payload,
// which can have a secret.
func decode(data []byte, into payload) error {
	if len(data) > payloadLimit {
		return fmt.Errorf("natsdir: payload has %d bytes, above the limit of %d", len(data), payloadLimit)
	}
	if ahp.Unmarshal(data, into) != nil || !into.check() {
		return fmt.Errorf("natsdir: payload is not a valid %T of version %d", into, version)
	}
	return nil
}

// key is a host's name in subjects.
func key(host string) string {
	sum := sha256.Sum256([]byte(host))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
}

// before reports whether a registration is older than another one of the same host.
func (n news) before(o news) bool {
	switch {
	case n.Generation != o.Generation:
		return n.Generation < o.Generation
	case n.Connection != o.Connection && n.Connection != 0 && o.Connection != 0:
		return n.Connection < o.Connection
	case n.Since != o.Since:
		return n.Since < o.Since
	}
	return n.Edge < o.Edge
}
