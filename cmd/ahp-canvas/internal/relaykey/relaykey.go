package relaykey

import (
	"fmt"
	"os"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Key is the content of the file.
type Key struct {
	// Host is the name under which the host registers.
	Host string `json:"host"`
	// HostToken lets the host register.
	HostToken string `json:"hostToken,omitzero"`
	// ClientToken lets a client reach the host; it becomes part of the host's link.
	ClientToken string `json:"clientToken,omitzero"`
	// HostTokenID and ClientTokenID are the ids of signed tokens, by which a relay revokes
	// them.
	HostTokenID   string `json:"hostTokenId,omitzero"`
	ClientTokenID string `json:"clientTokenId,omitzero"`
}

// Read reads a file, which must hold a host token.
func Read(name string) (Key, error) {
	var k Key
	data, err := os.ReadFile(name)
	if err != nil {
		return k, err
	}
	if err := ahp.Unmarshal(data, &k); err != nil {
		return k, fmt.Errorf("%q: %w; it must hold the output of \"ahp-canvas relay token\"", name, err)
	}
	if k.HostToken == "" {
		return k, fmt.Errorf("%q has no host token; create one with \"ahp-canvas relay token --kind both\"", name)
	}
	return k, nil
}
