package aam

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
)

// The kinds of a [Key].
const (
	KindToken      = "token"      // of a site
	KindCredential = "credential" // of AAM ID, for several sites
)

// Key is what a secret is kept under.
type Key struct {
	// Kind is KindToken or KindCredential.
	Kind string `json:"kind"`
	// At is the origin and path of the site, or the issuer.
	At string `json:"at"`
	// Person is whose it is.
	Person string `json:"person,omitzero"`
	// Vendor is whose agents use it.
	Vendor string `json:"vendor"`
}

// Secret is a token or a credential.
type Secret struct {
	// Value goes into the header Authorization.
	Value string `json:"value"`
	// Expires is when it ends; zero if that is not known.
	Expires time.Time `json:"expires,omitzero"`
	// Actions is what it permits, if the site said it.
	Actions []string `json:"actions,omitzero"`
	// Audience has the sites that a credential is for.
	Audience []string `json:"audience,omitzero"`
	// Sites has the origins to which the person lets a credential for any site go.
	Sites []string `json:"sites,omitzero"`
}

// String hides the secret, so that no log has it.
func (Secret) String() string { return "secret" }

// GoString is String.
func (Secret) GoString() string { return "secret" }

// Vault keeps secrets.
type Vault interface {
	// Get returns a secret.
	Get(k Key) (Secret, bool)
	// Put keeps a secret. When it returns, the secret is as lasting as the vault.
	Put(k Key, s Secret) error
	// Delete forgets a secret.
	Delete(k Key) error
	// List returns the keys of all secrets, sorted.
	List() []Key
}

// maxSecrets is how many secrets a vault keeps.
const maxSecrets = 1024

// FileVault is a vault in one file, or in memory. Each value is sealed with AES-256-GCM
// under the vault's key and its own name, so that values cannot be swapped. If the key is
// beside the file, this protects a copy of the file and no more.
type FileVault struct {
	path string
	aead cipher.AEAD

	mu   sync.Mutex
	rows map[Key]Secret
}

// NewVault returns a vault in memory.
func NewVault() *FileVault { return &FileVault{rows: map[Key]Secret{}} }

// OpenVault opens the vault in a file, which need not exist. A value that cannot be opened
// with the key is left out, and will be removed with the next change.
func OpenVault(path string, key []byte) (*FileVault, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	v := NewVault()
	v.path = path
	if v.aead, err = cipher.NewGCM(block); err != nil {
		return nil, err
	}
	raw, err := readFile(path)
	if err != nil || raw == nil {
		return v, err
	}
	var sealed map[string]string
	if err := ahp.Unmarshal(raw, &sealed); err != nil {
		return nil, errors.New("the file with the secrets is damaged")
	}
	for name, box := range sealed {
		if k, s, ok := v.open(name, box); ok {
			v.rows[k] = s
		}
	}
	return v, nil
}

func (v *FileVault) open(name, box string) (k Key, s Secret, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(box)
	size := v.aead.NonceSize()
	if err != nil || len(raw) < size || ahp.Unmarshal([]byte(name), &k) != nil {
		return k, s, false
	}
	plain, err := v.aead.Open(nil, raw[:size], raw[size:], []byte(name))
	return k, s, err == nil && ahp.Unmarshal(plain, &s) == nil
}

// save writes all rows. The caller holds the lock.
func (v *FileVault) save(rows map[Key]Secret) error {
	if v.path == "" {
		return nil
	}
	sealed := make(map[string]string, len(rows))
	for k, s := range rows {
		name := ahp.MustMarshal(k)
		nonce := make([]byte, v.aead.NonceSize())
		if _, err := rand.Read(nonce); err != nil {
			return err
		}
		sealed[string(name)] = base64.StdEncoding.EncodeToString(v.aead.Seal(nonce, nonce, ahp.MustMarshal(s), name))
	}
	if durable.Replace(v.path, ahp.MustMarshal(sealed)) != nil {
		return diskFailed("the secret")
	}
	return nil
}

// Get implements Vault.
func (v *FileVault) Get(k Key) (Secret, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, ok := v.rows[k]
	return s, ok
}

// Put implements Vault.
func (v *FileVault) Put(k Key, s Secret) error {
	return v.change(func(rows map[Key]Secret) error {
		if _, has := rows[k]; !has && len(rows) >= maxSecrets {
			return fmt.Errorf("there are %d secrets; forget one first", maxSecrets)
		}
		rows[k] = s
		return nil
	})
}

// Delete implements Vault.
func (v *FileVault) Delete(k Key) error {
	return v.change(func(rows map[Key]Secret) error { delete(rows, k); return nil })
}

func (v *FileVault) change(do func(map[Key]Secret) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	rows := maps.Clone(v.rows)
	if err := do(rows); err != nil {
		return err
	}
	if err := v.save(rows); err != nil {
		return err
	}
	v.rows = rows
	return nil
}

// List implements Vault.
func (v *FileVault) List() []Key {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.SortedFunc(maps.Keys(v.rows), func(a, b Key) int {
		return strings.Compare(string(ahp.MustMarshal(a)), string(ahp.MustMarshal(b)))
	})
}
