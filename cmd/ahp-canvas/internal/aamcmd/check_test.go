package aamcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

const manifests = "../../../../canvas/provider/aam/testdata/manifests/"

// TestCheck reads files and sites, and says what is wrong with them, and where.
func TestCheck(t *testing.T) {
	t.Parallel()
	site, _ := newSite(t)
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte(`{"aam_version":"2.0","site":{"name":"x","domain":"x.y"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{
		manifests + "manifest_cafe_rosso.json":                "make_reservation  0.05 USDC on base, needs a sign-in",
		manifests + "live_manifest_salon_aurora.partial.json": "warning: /actions: the manifest has no actions",
		site:                   "check  free, needs a sign-in",
		bad:                    "/aam_version: version",
		"http://caferosso.com": "want a name or https address",
	} {
		var out bytes.Buffer
		err := check(t.Context(), &term.Env{Out: &out}, arg, true)
		got := out.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", arg, got)
		}
	}
}

// TestKeygen writes a key that the host can read, once, and prints its address.
func TestKeygen(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	var out bytes.Buffer
	if err := keygen(&term.Env{Out: &out}, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x402.ParseKey(string(text))
	if err != nil || strings.TrimSpace(out.String()) != key.Account().String() {
		t.Errorf("%s, %v", out.String(), err)
	}
	if strings.Contains(out.String(), key.Text()) {
		t.Error("the key is printed")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := keygen(&term.Env{Out: &out}, file); err == nil {
		t.Error("a key was replaced")
	}
}
