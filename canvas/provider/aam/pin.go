package aam

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
)

// The limits of a PIN.
const (
	MinPIN    = 6
	maxPIN    = 256
	pinTries  = 5
	pinLocked = 15 * time.Minute
)

// pinRounds is how often a new PIN is hashed. Tests lower it.
var pinRounds = 600_000

// PIN is what a person at a terminal has set to approve what costs money or lets others in.
// It is in a file, as a hash. After 5 wrong tries it is locked for 15 minutes, also over
// restarts.
type PIN struct {
	path string
	now  func() time.Time
	mu   sync.Mutex
}

// pinFile is the file of a PIN.
type pinFile struct {
	Salt   []byte    `json:"salt"`
	Rounds int       `json:"rounds"`
	Hash   []byte    `json:"hash"`
	Wrong  int       `json:"wrong,omitzero"`
	Until  time.Time `json:"until,omitzero"`
}

// OpenPIN returns the PIN in a file, which need not exist. A nil clock is time.Now.
func OpenPIN(path string, now func() time.Time) *PIN {
	if now == nil {
		now = time.Now
	}
	return &PIN{path: path, now: now}
}

// SetPIN sets the PIN in a file.
func SetPIN(path, pin string) error {
	if n := utf8.RuneCountInString(pin); n < MinPIN || len(pin) > maxPIN {
		return fmt.Errorf("a PIN has %d characters and more", MinPIN)
	}
	f := pinFile{Salt: make([]byte, 16), Rounds: pinRounds}
	if _, err := rand.Read(f.Salt); err != nil {
		return err
	}
	var err error
	if f.Hash, err = f.hash(pin); err != nil {
		return err
	}
	return durable.Replace(path, ahp.MustMarshal(f))
}

func (f pinFile) hash(pin string) ([]byte, error) {
	return pbkdf2.Key(sha256.New, pin, f.Salt, f.Rounds, sha256.Size)
}

func (p *PIN) read() (f pinFile, err error) {
	raw, err := readFile(p.path)
	if err != nil || raw == nil {
		return f, errorf(CodePINUnset, "", "no PIN is set; set one at a terminal: ahp-canvas aam pin")
	}
	if err := ahp.Unmarshal(raw, &f); err != nil || f.Rounds < 1 || len(f.Hash) != sha256.Size {
		return f, errorf(CodePINUnset, "", "the file of the PIN is damaged; set it again: ahp-canvas aam pin")
	}
	return f, nil
}

// Set reports whether a PIN is set.
func (p *PIN) Set() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.read()
	return err == nil
}

// Check returns nil for the right PIN. A try is counted on the disk before it is compared.
func (p *PIN) Check(pin string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := p.read()
	if err != nil {
		return err
	}
	now := p.now()
	if now.Before(f.Until) {
		return errorf(CodePINLocked, "", "too many wrong PINs; try again after %s", f.Until.Local().Format("15:04"))
	}
	if f.Wrong++; f.Wrong >= pinTries {
		f.Wrong, f.Until = 0, now.Add(pinLocked)
	}
	if durable.Replace(p.path, ahp.MustMarshal(f)) != nil {
		return diskFailed("the count of tries")
	}
	hash, err := f.hash(pin)
	if err != nil || subtle.ConstantTimeCompare(hash, f.Hash) != 1 {
		return errorf(CodePINWrong, "", "the PIN is wrong")
	}
	f.Wrong, f.Until = 0, time.Time{}
	if durable.Replace(p.path, ahp.MustMarshal(f)) != nil {
		return diskFailed("the count of tries")
	}
	return nil
}
