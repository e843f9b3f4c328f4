package relay

import (
	"errors"
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

// messageLimit bounds a message of ours in bytes.
const messageLimit = 4 << 10

// message is every message between an edge and a host: those of the control
// connection and the first one of a lane. Members that a type does not have are
// ignored, and so are unknown members: the two ends may be of different releases.
type message struct {
	Type string `json:"type"`
	// Generation of a register: a larger number is a newer run of the host.
	Generation int64 `json:"generation,omitzero"`
	// Lane of a lane or decline.
	Lane string `json:"lane,omitzero"`
	// Secret opens the lane, once.
	Secret string `json:"secret,omitzero"`
	// Edge is where the lane waits, a wss or ws URL; "" is the edge that the
	// control connection leads to.
	Edge string `json:"edge,omitzero"`
	// Subject and ClientID of an open: whose token the client showed, and the
	// only client id that it may claim ("" is any).
	Subject  string `json:"subject,omitzero"`
	ClientID string `json:"clientId,omitzero"`
}

// decode reads a message and checks that it has what its type needs.
func decode(data []byte) (message, error) {
	if len(data) > messageLimit {
		return message{}, errors.New("relay: message above the limit")
	}
	var m message
	if err := ahp.Unmarshal(data, &m); err != nil {
		return message{}, fmt.Errorf("relay: %w", err)
	}
	ok := true
	switch m.Type {
	case typeRegister:
		ok = m.Generation > 0
	case typeLane:
		ok = ValidName(m.Lane) && m.Secret != ""
	case typeDecline:
		ok = ValidName(m.Lane)
	}
	if !ok {
		return message{}, fmt.Errorf("relay: a %s message lacks what it needs", m.Type)
	}
	return m, nil
}

func (m message) encode() []byte { return ahp.MustMarshal(m) }

// ValidName reports whether s can name a host or a lane: 1 to 63 of a-z, 0-9,
// ".", "_" and "-", beginning with a letter or digit. Such a name stands in a
// path, a log line and a link as it is.
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
