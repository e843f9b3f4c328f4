package token

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func open(t *testing.T, name string, now *time.Time) *Store {
	t.Helper()
	s, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	s.SetClock(func() time.Time { return *now })
	return s
}

func create(t *testing.T, s *Store, r Request) (string, Entry) {
	t.Helper()
	secret, e, err := s.Create(r)
	if err != nil {
		t.Fatal(err)
	}
	return secret, e
}

// TestRestart: tokens survive a restart as hashes, a revoked one stays revoked, and
// the file opens nothing.
func TestRestart(t *testing.T) {
	name, now := filepath.Join(t.TempDir(), "tokens.json"), time.Now()
	s := open(t, name, &now)
	kept, e := create(t, s, Request{Name: "Editor", Role: "client", ClientID: "desk", Lifetime: time.Hour})
	gone, other := create(t, s, Request{Name: "Other", Role: "view"})
	if _, err := s.Revoke(other.ID); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil || strings.Contains(string(data), kept) {
		t.Fatalf("the file discloses a token (%v)", err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	s = open(t, name, &now)
	if got, ok := s.Find(kept); !ok || got != e || len(s.Owners("desk")) != 1 || s.Hash(e.ID) != HashOf(kept) {
		t.Errorf("after a restart: %+v %v, want %+v", got, ok, e)
	}
	if _, ok := s.Find(gone); ok {
		t.Error("a revoked token opens the host")
	}
	now = now.Add(time.Hour)
	if _, ok := s.Find(kept); ok || s.Opens(e.ID) || s.Hash(e.ID) != "" {
		t.Error("an expired token opens the host")
	}
	if ended, err := s.Expire(); err != nil || len(ended) != 1 || ended[0].ID != e.ID || len(s.List()) != 0 {
		t.Errorf("expired: %+v %v", ended, err)
	}
}

// TestInvitation: an invitation opens nothing, is exchanged once, and says when that was.
func TestInvitation(t *testing.T) {
	name, now := filepath.Join(t.TempDir(), "tokens.json"), time.Now()
	s := open(t, name, &now)
	code, _ := create(t, s, Request{Kind: Invitation, Name: "People", Role: "read"})
	if _, ok := s.Find(code); ok {
		t.Error("an invitation is a token")
	}
	secret, e, err := s.Redeem(code)
	if err != nil || e.Kind != Person || e.Role != "read" {
		t.Fatalf("redeemed %+v %v", e, err)
	}
	if got, ok := s.Find(secret); !ok || got != e {
		t.Errorf("the browser's token: %+v %v", got, ok)
	}
	s = open(t, name, &now)
	now = now.Add(time.Hour)
	_, _, err = s.Redeem(code)
	if used, ok := errors.AsType[*UsedError](err); !ok || !used.At.Equal(e.Created) {
		t.Errorf("redeemed twice: %v", err)
	}
	late, _ := create(t, s, Request{Kind: Invitation, Name: "People", Role: "view"})
	now = now.Add(InvitationTime)
	if _, _, err := s.Redeem(late); !errors.Is(err, ErrUnknown) {
		t.Errorf("redeemed after ten minutes: %v", err)
	}
	if _, _, err := s.Redeem(secret); !errors.Is(err, ErrUnknown) {
		t.Errorf("redeemed a token that is no invitation: %v", err)
	}
}

// TestLimits: unused invitations replace the oldest one, and other tokens are refused at
// the limit.
func TestLimits(t *testing.T) {
	s, now := New(), time.Now()
	s.SetClock(func() time.Time { now = now.Add(time.Second); return now })
	first, _ := create(t, s, Request{Kind: Invitation, Name: "0", Role: "view", Lifetime: time.Hour})
	for range MaxInvitations {
		create(t, s, Request{Kind: Invitation, Name: "n", Role: "view", Lifetime: time.Hour})
	}
	if _, _, err := s.Redeem(first); !errors.Is(err, ErrUnknown) || len(s.List()) != MaxInvitations {
		t.Errorf("the oldest of %d invitations: %v", len(s.List()), err)
	}
	for _, r := range []Request{{Name: "", Role: "view"}, {Name: "a\nb", Role: "view"}, {Name: "a", Role: "root"}, {Name: "a", Role: "view", Lifetime: -1}, {Name: "a", Role: "view", Kind: "x"}} {
		if _, _, err := s.Create(r); err == nil {
			t.Errorf("created %+v", r)
		}
	}
}

// TestFailedWrite: a token that could not be stored does not exist.
func TestFailedWrite(t *testing.T) {
	now := time.Now()
	s := open(t, filepath.Join(t.TempDir(), "gone", "tokens.json"), &now)
	if _, _, err := s.Create(Request{Name: "a", Role: "view"}); err == nil || len(s.List()) != 0 {
		t.Errorf("created %v: %v", s.List(), err)
	}
}

// FuzzDecode: whatever decodes is valid and encodes to the same tokens.
func FuzzDecode(f *testing.F) {
	s := New()
	_, _, _ = s.Create(Request{Name: "Editor", Role: "client", ClientID: "desk", Lifetime: time.Hour})
	f.Add(encode(*s.tokens.Load()))
	f.Add([]byte(`{"version":1,"tokens":[]}`))
	f.Add([]byte(`{"version":1,"tokens":[],"x":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := decode(data)
		if err != nil {
			return
		}
		again, err := decode(encode(all))
		if err != nil || len(again) != len(all) {
			t.Errorf("%d tokens became %d: %v", len(all), len(again), err)
		}
	})
}

// TestDamaged: a file that the store did not write is refused as a whole.
func TestDamaged(t *testing.T) {
	hash := HashOf("x")
	token := func(change ...string) string {
		return strings.NewReplacer(change...).Replace(`{"version":1,"tokens":[{"id":"` + hash[:16] + `","kind":"token","name":"n","role":"view","created":"2026-01-01T00:00:00Z","hash":"` + hash + `"}]}`)
	}
	if _, err := decode([]byte(token())); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{
		"", "{}", token(`"version":1`, `"version":2`), token(`"role":"view"`, `"role":"king"`), token(`"name":"n"`, `"name":""`),
		token(hash[:16]+`"`, `0000000000000000"`), token(`"hash"`, `"hsh"`), token(`"kind"`, `"more":1,"kind"`), token(`{"version"`, `{"more":1,"version"`),
		token(`"created":"2026-01-01T00:00:00Z",`, ``),
	} {
		if _, err := decode([]byte(data)); err == nil {
			t.Errorf("decoded %s", data)
		}
	}
}
