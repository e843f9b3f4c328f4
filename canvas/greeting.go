package canvas

import "github.com/ahp-canvas/ahp-canvas/ahp"

// greetingBytes limits a greeting; longer payloads are none.
const greetingBytes = 256

// IsGreeting reports whether the payload of a canvas/message only says hello or bye:
// {"x-ahp": TAG, "type": "hello"}, or an object with one member whose value is "hello". A
// View that may only look can send these, so that its provider answers with the state
// (canvas/PROTOCOL.md section 4.1).
func IsGreeting(payload ahp.Value) bool {
	if len(payload) > greetingBytes || payload.Kind() != '{' {
		return false
	}
	var members map[string]ahp.Value
	if ahp.Unmarshal(payload, &members) != nil {
		return false
	}
	word := members["type"]
	switch len(members) {
	case 1:
		for _, only := range members {
			word = only
		}
	case 2:
		if members["x-ahp"].Kind() != '"' {
			return false
		}
	default:
		return false
	}
	return ahp.Equal(word, ahp.Value(`"hello"`)) || ahp.Equal(word, ahp.Value(`"bye"`))
}
