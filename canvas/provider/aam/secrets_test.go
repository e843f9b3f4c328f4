package aam_test

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// TestVault keeps secrets sealed, over a restart, each under its own name.
func TestVault(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secrets.json")
	key, err := aam.LoadKey(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := aam.OpenVault(path, key)
	if err != nil {
		t.Fatal(err)
	}
	rosso := aam.Key{Kind: aam.KindToken, At: "https://caferosso.com", Person: "maria", Vendor: "anthropic.com"}
	bank := aam.Key{Kind: aam.KindToken, At: "https://bank.example", Person: "maria", Vendor: "anthropic.com"}
	for k, s := range map[aam.Key]string{rosso: token, bank: "bank-token"} {
		if err := v.Put(k, aam.Secret{Value: s}); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if text := fmt.Sprintf("%v %+v %#v", aam.Secret{Value: token}, aam.Secret{Value: token}, aam.Secret{Value: token}); strings.Contains(text, token) {
		t.Error("the token is in the secret's text")
	}
	raw, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(raw), token) || strings.Contains(string(raw), "bank-token") {
		t.Fatalf("the file has a token: %v", err)
	}
	again, err := aam.OpenVault(path, key)
	if s, ok := again.Get(rosso); err != nil || !ok || s.Value != token {
		t.Fatalf("after a restart: %v, %v", ok, err)
	}
	// Swapped, and under another key, nothing can be read.
	var rows map[string]string
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	var names []string
	for n := range rows {
		names = append(names, n)
	}
	rows[names[0]], rows[names[1]] = rows[names[1]], rows[names[0]]
	swapped, _ := json.Marshal(rows)
	if err := os.WriteFile(path, swapped, 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err = aam.OpenVault(path, key); err != nil || len(again.List()) != 0 {
		t.Errorf("swapped: %v, %v", again.List(), err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := aam.LoadKey(filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err = aam.OpenVault(path, other); err != nil || len(again.List()) != 0 {
		t.Errorf("another key: %v, %v", again.List(), err)
	}
	if same, err := aam.LoadKey(filepath.Join(dir, "key")); err != nil || string(same) != string(key) {
		t.Errorf("the key changed: %v", err)
	}
}

// TestPIN counts wrong ones on the disk, and locks.
func TestPIN(t *testing.T) {
	aam.LowerPINRounds()
	path := filepath.Join(t.TempDir(), "pin.json")
	now := time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	p := aam.OpenPIN(path, clock)
	if err := p.Check("123456"); code(err) != aam.CodePINUnset || !strings.Contains(err.Error(), "ahp-canvas aam pin") {
		t.Errorf("none: %v", err)
	}
	if err := aam.SetPIN(path, "12345"); err == nil {
		t.Error("5 characters are a PIN")
	}
	if err := aam.SetPIN(path, "geheim"); err != nil || !p.Set() {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), "geheim") {
		t.Errorf("the file has the PIN: %v", err)
	}
	for range 4 {
		if err := p.Check("wrong!"); code(err) != aam.CodePINWrong {
			t.Fatal(err)
		}
	}
	if err := p.Check("geheim"); err != nil {
		t.Fatalf("the right one after 4: %v", err)
	}
	for range 5 {
		if err := p.Check("wrong!"); code(err) != aam.CodePINWrong {
			t.Fatal(err)
		}
	}
	for _, p := range []*aam.PIN{p, aam.OpenPIN(path, clock)} { // also after a restart
		if err := p.Check("geheim"); code(err) != aam.CodePINLocked {
			t.Errorf("after 5: %v", err)
		}
	}
	now = now.Add(15*time.Minute - time.Second)
	if err := p.Check("geheim"); code(err) != aam.CodePINLocked {
		t.Errorf("before 15 minutes are over: %v", err)
	}
	now = now.Add(time.Second)
	if err := p.Check("geheim"); err != nil {
		t.Errorf("after 15 minutes: %v", err)
	}
}

// TestPINFile: a PIN is kept as PBKDF2-SHA-256 of 600,000 rounds with a salt, readable by its owner alone.
func TestPINFile(t *testing.T) {
	if aam.DefaultPINRounds != 600_000 {
		t.Errorf("%d rounds", aam.DefaultPINRounds)
	}
	aam.LowerPINRounds()
	var salts []string
	for range 2 {
		path := filepath.Join(t.TempDir(), "pin.json")
		if err := aam.SetPIN(path, "geheim"); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			Salt, Hash []byte
			Rounds     int
		}
		if err := json.Unmarshal(raw, &f); err != nil {
			t.Fatal(err)
		}
		want, err := pbkdf2.Key(sha256.New, "geheim", f.Salt, f.Rounds, 32)
		if err != nil || string(f.Hash) != string(want) || len(f.Salt) < 16 || f.Rounds != 1000 {
			t.Errorf("%s, %v", raw, err)
		}
		salts = append(salts, string(f.Salt))
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
	if salts[0] == salts[1] {
		t.Error("two PINs have one salt")
	}
}

// TestKeyFile: the vault's key is random, 32 bytes, and readable by its owner alone; a damaged file is
// not replaced, because the tokens would be lost.
func TestKeyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var keys []string
	for _, name := range []string{"a", "b"} {
		key, err := aam.LoadKey(filepath.Join(dir, name))
		if err != nil || len(key) != 32 {
			t.Fatalf("%d bytes, %v", len(key), err)
		}
		keys = append(keys, string(key))
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
	if keys[0] == keys[1] {
		t.Error("two keys are equal")
	}
	for _, text := range []string{"", "7777", strings.Repeat("x", 64)} {
		path := filepath.Join(dir, "damaged")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := aam.LoadKey(path); err == nil {
			t.Errorf("%q is a key", text)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != text {
			t.Errorf("%q became %q", text, raw)
		}
	}
}

// TestVaultSealsAgain: two values under one key are never sealed with one nonce, and a vault in memory has no file.
func TestVaultSealsAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "secrets.json")
	v, err := aam.OpenVault(path, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	k := aam.Key{Kind: aam.KindToken, At: "https://caferosso.com", Vendor: "anthropic.com"}
	boxes := map[string]bool{}
	for range 3 {
		if err := v.Put(k, aam.Secret{Value: token}); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		var rows map[string]string
		if err != nil || json.Unmarshal(raw, &rows) != nil || len(rows) != 1 {
			t.Fatalf("%s, %v", raw, err)
		}
		for _, box := range rows {
			boxes[box[:16]] = true // the nonce
		}
	}
	if len(boxes) != 3 {
		t.Errorf("%d nonces for 3 values", len(boxes))
	}
	if err := aam.NewVault().Put(k, aam.Secret{Value: token}); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
}
