package token

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// fileVersion is the version of the file's format.
const fileVersion = 1

// maxFile limits the file, in bytes.
const maxFile = 8 << 20

// file is the content of a store's file.
type file struct {
	Version int       `json:"version"`
	Tokens  []record  `json:"tokens"`
	Unknown ahp.Value `json:",embed"`
}

// record is a token in the file.
type record struct {
	Entry
	Hash    string    `json:"hash"` // SHA-256 of the secret, in hex
	Unknown ahp.Value `json:",embed"`
}

// decode reads a file strictly.
func decode(data []byte) (map[string]*record, error) {
	var f file
	if len(data) > maxFile {
		return nil, fmt.Errorf("longer than %d bytes", maxFile)
	}
	if err := ahp.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	switch {
	case f.Version != fileVersion:
		return nil, fmt.Errorf("/version: %d, want %d", f.Version, fileVersion)
	case len(f.Unknown) > 0:
		return nil, fmt.Errorf("unknown members %s", f.Unknown)
	case len(f.Tokens) > MaxTokens:
		return nil, fmt.Errorf("/tokens: more than %d", MaxTokens)
	}
	all := make(map[string]*record, len(f.Tokens))
	for i, r := range f.Tokens {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("/tokens/%d: %w", i, err)
		}
		if all[r.ID] != nil {
			return nil, fmt.Errorf("/tokens/%d: two tokens with the id %s", i, r.ID)
		}
		all[r.ID] = &r
	}
	return all, nil
}

// check returns an error for a record that the store has not written.
func (r *record) check() error {
	hash, err := hex.DecodeString(r.Hash)
	switch {
	case len(r.Unknown) > 0:
		return fmt.Errorf("unknown members %s", r.Unknown)
	case err != nil || len(hash) != 32 || hex.EncodeToString(hash) != r.Hash:
		return errors.New("/hash: want 64 lower-case hex digits")
	case r.ID != r.Hash[:16]:
		return errors.New("/id: want the beginning of the hash")
	case r.Created.IsZero():
		return errors.New("/created: missing")
	}
	q := Request{Kind: r.Kind, Name: r.Name, Role: r.Role, ClientID: r.ClientID}
	return q.check()
}
