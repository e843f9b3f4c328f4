package aam

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
)

// readFile returns a file's content; nothing if there is no such file.
func readFile(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// diskFailed is the error for a file that cannot be written. It has no path.
func diskFailed(what string) *Error {
	return errorf(CodeInternal, "", "%s could not be written to the disk", what)
}

const keyBytes = 32

// LoadKey returns the key in a file, and makes one if there is no such file.
func LoadKey(path string) ([]byte, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if text == nil {
		key := make([]byte, keyBytes)
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
		return key, durable.Replace(path, []byte(hex.EncodeToString(key)+"\n"))
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, errors.New("the key file does not have 64 hex digits")
	}
	return key, nil
}
