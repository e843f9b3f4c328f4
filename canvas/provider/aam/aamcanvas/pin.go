package aamcanvas

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// The codes of a PIN that was not accepted. Only the page that sent it learns them.
const (
	CodePINUnset  = "aam_pin_unset"
	CodePINWrong  = "aam_pin_wrong"
	CodePINLocked = "aam_pin_locked"
)

const (
	pinRounds = 600_000
	pinTries  = 5
	pinLock   = 15 * time.Minute
	minPIN    = 6
)

// PIN is the number or word with which a person confirms what costs money or lets others
// in. It is set at a terminal, so a page or an agent cannot choose it. The file is read
// for each check, so a new PIN needs no restart. Make it with [OpenPIN].
type PIN struct {
	path   string
	now    func() time.Time
	rounds int

	mu     sync.Mutex
	memory *pinFile // without a path
}

// pinFile is the PIN's file.
type pinFile struct {
	Rounds int       `json:"rounds"`
	Salt   []byte    `json:"salt"`
	Hash   []byte    `json:"hash"`
	Wrong  int       `json:"wrong"`           // tries since the last right one
	Locked time.Time `json:"locked,omitzero"` // until when no PIN is accepted
}

// OpenPIN returns the PIN in a file, which need not exist. Without a path the PIN lasts as
// long as the process.
func OpenPIN(path string) *PIN { return &PIN{path: path, now: time.Now, rounds: pinRounds} }

// Set replaces the PIN. It needs at least 6 characters.
func (p *PIN) Set(pin string) error {
	if utf8.RuneCountInString(pin) < minPIN {
		return fmt.Errorf("the PIN has %d characters; use at least %d", utf8.RuneCountInString(pin), minPIN)
	}
	f := pinFile{Rounds: p.rounds, Salt: make([]byte, 16)}
	_, _ = rand.Read(f.Salt) // it never fails
	var err error
	if f.Hash, err = f.hash(pin); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.write(f)
}

// IsSet reports whether there is a PIN.
func (p *PIN) IsSet() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.read()
	return err == nil
}

// Check returns nil if the PIN is right, or an error of one of the codes above. After five
// wrong ones it accepts none for 15 minutes, also after a restart: a try is on disk
// before it is judged.
func (p *PIN) Check(pin string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := p.read()
	if errors.Is(err, fs.ErrNotExist) {
		return canvas.Errorf(CodePINUnset, "this needs a PIN, and none is set; run: ahp-canvas aam pin")
	}
	if err != nil {
		return fmt.Errorf("the PIN cannot be read: %w", err)
	}
	if left := f.Locked.Sub(p.now()); left > 0 {
		return canvas.Errorf(CodePINLocked, "too many wrong PINs; try again in %d minutes", int(left.Minutes())+1)
	}
	f.Wrong++
	if f.Wrong >= pinTries {
		f.Wrong, f.Locked = 0, p.now().Add(pinLock)
	}
	if err := p.write(f); err != nil {
		return fmt.Errorf("the PIN cannot be checked: %w", err)
	}
	hash, err := f.hash(pin)
	if err != nil || subtle.ConstantTimeCompare(hash, f.Hash) != 1 {
		return canvas.Errorf(CodePINWrong, "the PIN is wrong")
	}
	f.Wrong, f.Locked = 0, time.Time{}
	return p.write(f)
}

func (f pinFile) hash(pin string) ([]byte, error) {
	return pbkdf2.Key(sha256.New, pin, f.Salt, f.Rounds, sha256.Size)
}

func (p *PIN) read() (f pinFile, err error) {
	if p.path == "" {
		if p.memory == nil {
			return f, fs.ErrNotExist
		}
		return *p.memory, nil
	}
	b, err := os.ReadFile(p.path)
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(b, &f)
}

// write replaces the file, so that a crash leaves the old one or the new one.
func (p *PIN) write(f pinFile) error {
	if p.path == "" {
		p.memory = &f
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(p.path), ".pin-*") // 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(b)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), p.path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
