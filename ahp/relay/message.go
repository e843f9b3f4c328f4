package relay

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The types of messages, see the package documentation.
const (
	typeRegister   = "register"
	typeRegistered = "registered"
	typeLane       = "lane"
	typeDecline    = "decline"
	typeDrain      = "drain"
	typeOpen       = "open"
)

// required describes the members that decode requires, by type.
var required = map[string]string{typeRegister: "generation or connection", typeLane: "lane or secret", typeDecline: "lane"}

// messageLimit limits a relay message in bytes.
const messageLimit = 4 << 10

// message holds any message between an edge and a host: on the control
// connection, or the first one of a lane. Members that do not belong to the
// type are ignored, and so are unknown members, because the two ends can be of
// different releases.
type message struct {
	Type string `json:"type"`
	// Generation of a register: a larger number is a newer run of the host.
	Generation int64 `json:"generation,omitzero"`
	// Connection of a register numbers the control connections of one run, so that edges of
	// a fleet know the later one; 0 is a host that does not number them.
	Connection int64 `json:"connection,omitzero"`
	// Edges of a registered are the patterns of the fleet's edges, separated by spaces (see
	// Edges).
	Edges string `json:"edges,omitzero"`
	// Lane of a lane or decline.
	Lane string `json:"lane,omitzero"`
	// Secret opens the lane, once.
	Secret string `json:"secret,omitzero"`
	// Edge is where the lane waits, a wss or ws URL; "" is the edge that the
	// control connection leads to.
	Edge string `json:"edge,omitzero"`
	// Subject and ClientID of an open: the holder of the client's token, and the
	// only client id that the client may use ("" allows any).
	Subject  string `json:"subject,omitzero"`
	ClientID string `json:"clientId,omitzero"`
	// Person of an open tells the people apart who share the client's token.
	Person string `json:"person,omitzero"`
	// Client and Lanes of an open are a name for the client's token and how many lanes it may
	// have at all edges; an edge that is alone counts them and leaves both out.
	Client string `json:"client,omitzero"`
	Lanes  int    `json:"lanes,omitzero"`
}

// decode parses a message and checks that it has the members that its type
// requires.
func decode(data []byte) (message, error) {
	if len(data) > messageLimit {
		return message{}, fmt.Errorf("relay: message has %d bytes, above the limit of %d", len(data), messageLimit)
	}
	var m message
	if err := ahp.Unmarshal(data, &m); err != nil {
		return message{}, fmt.Errorf("relay: %w", err)
	}
	ok := true
	switch m.Type {
	case typeRegister:
		ok = m.Generation > 0 && m.Connection >= 0
	case typeLane:
		ok = ValidName(m.Lane) && m.Secret != ""
	case typeDecline:
		ok = ValidName(m.Lane)
	}
	if !ok {
		return message{}, fmt.Errorf("relay: %q message lacks a valid %s", m.Type, required[m.Type])
	}
	return m, nil
}

func (m message) encode() []byte { return ahp.MustMarshal(m) }

// ValidName reports whether s can name a host or a lane: 1 to 63 of a-z, 0-9,
// ".", "_" and "-", beginning with a letter or digit. Such a name needs no
// escaping in a path, a log line or a link.
func ValidName(s string) bool {
	if len(s) < 1 || len(s) > 63 {
		return false
	}
	for i, r := range []byte(s) {
		letter := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || r != '.' && r != '_' && r != '-') {
			return false
		}
	}
	return true
}
