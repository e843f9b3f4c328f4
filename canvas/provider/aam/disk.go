package aam

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// replace writes a file that the user alone can read, so that a reader or a crash sees the
// old or the new one. When it returns, the new one is on the disk.
func replace(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // Windows cannot, and does not need it
		_ = dir.Close()
	}
	return nil
}

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
		return key, replace(path, []byte(hex.EncodeToString(key)+"\n"))
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, errors.New("the key file does not have 64 hex digits")
	}
	return key, nil
}
