package statedir

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/durable"
	"github.com/ahp-canvas/ahp-canvas/ahp/seal"
	"github.com/ahp-canvas/ahp-canvas/ahp/token"
	"github.com/ahp-canvas/ahp-canvas/channels/lockfile"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// Memory is the folder's name for a host that keeps nothing.
const Memory = "memory"

// hostFile is the name of the file that State is kept in.
const hostFile = "host.json"

// State is what a host keeps so that open pages survive its restart.
type State struct {
	// ViewToken and AgentToken are the host's two tokens.
	ViewToken  string `json:"viewToken"`
	AgentToken string `json:"agentToken"`
	// RuntimeToken opens the endpoint of browser pages, and nothing else; "" until it is
	// needed first. The checksum leaves it out, so that earlier versions can read the file.
	RuntimeToken string `json:"runtimeToken,omitzero"`
	// TicketKey is the key of the tickets with which chats show canvases. The checksum leaves
	// it out, as it does RuntimeToken.
	TicketKey string `json:"ticketKey,omitzero"`
	// Port is the port of the last run; 0 before the first one.
	Port int `json:"port,omitzero"`
	// Generation is what the last run registered with at a relay; 0 before the first
	// registration.
	Generation int64 `json:"generation,omitzero"`

	// Sum is the checksum of the other members; "" in a file of an earlier version.
	Sum string `json:"sum,omitzero"`

	file string   // "" keeps nothing
	lock *os.File // nil if nothing is kept

	spareUsed bool // see UseSpare
}

// Open locks a folder, which only the user can enter, reads its state and makes up the
// tokens that it lacks. The caller must Release it. Open returns ErrInUse if another host
// has the folder.
func Open(dir string) (*State, error) {
	s := &State{}
	if dir == Memory {
		s.fill()
		return s, nil
	}
	if err := userdir.Ensure(dir); err != nil {
		return nil, folderError(dir, err)
	}
	if err := s.acquire(dir); err != nil {
		return nil, err
	}
	if err := s.load(File(dir)); err != nil {
		s.Release()
		return nil, err
	}
	return s, nil
}

// File returns the name of the file in a state folder that holds the tokens.
func File(dir string) string { return filepath.Join(dir, hostFile) }

// Read reads the state in a file, without a lock.
func Read(file string) (State, error) {
	var s State
	data, err := os.ReadFile(file)
	if err == nil {
		err = s.decode(data)
	}
	return s, err
}

var errSum = errors.New("its checksum does not match")

// decode decodes a file and checks its checksum: a changed token would lock everyone out
// and a changed port move the host, without an error.
func (s *State) decode(data []byte) error {
	if err := ahp.Unmarshal(data, s); err != nil {
		return err
	}
	if s.Sum != "" && s.Sum != s.checksum() {
		return errSum
	}
	return nil
}

// checksum returns the checksum of everything but Sum.
func (s *State) checksum() string {
	all := State{ViewToken: s.ViewToken, AgentToken: s.AgentToken, Port: s.Port, Generation: s.Generation}
	return fmt.Sprintf("%08x", crc32.Checksum(ahp.MustMarshal(&all), crc32.MakeTable(crc32.Castagnoli)))
}

// ErrInUse matches the error of Open if another host has the folder.
var ErrInUse = errors.New("another host is using the state folder")

type inUseError struct{ error }

func (e *inUseError) Unwrap() []error { return []error{e.error, ErrInUse} }

// acquire locks the folder and writes this process's id into the lock file.
func (s *State) acquire(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return folderError(dir, err)
	}
	held, err := lockfile.Try(f)
	switch {
	case held:
		defer f.Close()
		return &inUseError{term.Failf(term.CodeNotStarted, "%s is using the state folder %s; \"ahp-canvas link\" prints its link; stop it, or start this one with another --state", holder(f), dir)}
	case err != nil:
		f.Close()
		return fmt.Errorf("state folder: lock: %w", err)
	}
	s.lock = f
	_ = f.Truncate(0) // the id is for people: the lock works without it
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	return nil
}

// folderError says what to do about a folder that cannot be used.
func folderError(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return term.Failf(codeReadOnly, "the state folder %s is not writable; make it writable, or choose another one with --state (\"memory\" keeps nothing)", dir)
	}
	return fmt.Errorf("the state folder %s cannot be used: %w; choose another one with --state", dir, err)
}

// holder describes the process that wrote a lock file.
func holder(f *os.File) string {
	var text [20]byte
	n, _ := f.ReadAt(text[:], 0)
	if pid, err := strconv.Atoi(string(text[:n])); err == nil {
		return fmt.Sprintf("another host (process %d)", pid)
	}
	return "another host"
}

// Release unlocks the folder. The lock file stays: removing it could remove a lock that
// another host has just taken.
func (s *State) Release() {
	if s.lock != nil {
		s.lock.Close()
	}
}

func (s *State) load(file string) error {
	s.file = file
	data, err := os.ReadFile(s.file)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("state folder: %w", err)
	default:
		if err := s.decode(data); err != nil {
			return fmt.Errorf("%s is damaged (%w); remove it to start with new tokens, after which open pages need the new link", s.file, err)
		}
	}
	complete := s.ViewToken != "" && s.AgentToken != ""
	s.fill()
	if complete && s.Sum == s.checksum() {
		return nil // a start does not need space on the disk for it
	}
	if err := s.save(); !complete || !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return nil // only the checksum is missing
}

// fill makes up the tokens that are missing.
func (s *State) fill() {
	for _, t := range []*string{&s.ViewToken, &s.AgentToken} {
		if *t == "" {
			*t = newToken()
		}
	}
}

func (s *State) save() error {
	if s.file == "" {
		return nil
	}
	s.Sum = s.checksum()
	if err := durable.Replace(s.file, ahp.MustMarshal(s)); err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	return nil
}

// SetToken keeps a new view or agent token, whose role it names.
func (s *State) SetToken(role, secret string) error {
	now := *s
	switch role {
	case "view":
		now.ViewToken = secret
	case "agent":
		now.AgentToken = secret
	default:
		return fmt.Errorf("state folder: it keeps no token of the role %q", role)
	}
	if err := now.save(); err != nil {
		return err
	}
	*s = now
	return nil
}

// EnsureTicketKey makes the key of tickets up if there is none. If it cannot be kept, for
// example on a full disk, it is good for this run.
func (s *State) EnsureTicketKey() {
	if s.TicketKey == "" {
		s.TicketKey = newToken()
		_ = s.save()
	}
}

// EnsureRuntimeToken makes the runtime token up if there is none, and keeps it.
func (s *State) EnsureRuntimeToken() error {
	if s.RuntimeToken != "" {
		return nil
	}
	s.RuntimeToken = newToken()
	return s.save()
}

// Tokens opens the tokens that were created for others; those of Memory are not kept.
func (s *State) Tokens() (*token.Store, error) {
	if s.file == "" {
		return token.New(), nil
	}
	return token.Open(filepath.Join(filepath.Dir(s.file), tokensFile))
}

// tokensFile is the name of the file with the tokens that were created for others.
const tokensFile = "tokens.json"

// KeyFiles returns the names of the files of a state folder that open its host, or prove
// that it is the host of its links.
func KeyFiles() []string { return []string{hostFile, tokensFile, sealFile} }

// sealFile is the name of the file with the key of sealed connections.
const sealFile = "seal.key"

// SealKey returns the key with which the host proves itself to clients behind a relay. It
// makes one up if there is none. Links have its public key, so it stays the same; with
// Memory it is new for each run.
func (s *State) SealKey() (seal.Key, error) {
	if s.file == "" {
		return seal.NewKey(), nil
	}
	name := filepath.Join(filepath.Dir(s.file), sealFile)
	text, err := os.ReadFile(name)
	switch {
	case err == nil:
		key, err := seal.ParseKey(strings.TrimSpace(string(text)))
		if err != nil {
			return seal.Key{}, fmt.Errorf("%s is damaged; remove it to start with a new key, after which links through a relay change", name)
		}
		return key, nil
	case !errors.Is(err, os.ErrNotExist):
		return seal.Key{}, fmt.Errorf("state folder: %w", err)
	}
	key := seal.NewKey()
	if err := durable.Replace(name, []byte(key.Secret()+"\n")); err != nil {
		return seal.Key{}, fmt.Errorf("state folder: %w", err)
	}
	return key, nil
}

// SetPort keeps the port for the next run.
func (s *State) SetPort(port int) error {
	s.Port = port
	return s.save()
}

// NewGeneration returns and keeps the number by which a relay tells this run from earlier
// ones. It is the time, or one more than the last number if the clock went back.
func (s *State) NewGeneration(now time.Time) (int64, error) {
	s.Generation = max(now.UnixNano(), s.Generation+1)
	return s.Generation, s.save()
}

// newToken returns 256 random bits as text that fits into a header, a subprotocol and a
// fragment.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
