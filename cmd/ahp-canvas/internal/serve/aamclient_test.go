package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// TestAAMFlags: what no host can start with, and the note about the PIN.
func TestAAMFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := filepath.Join(dir, "signer")
	if err := os.WriteFile(key, []byte(strings.Repeat("7", 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--aam-vendor x":                         "--aam-vendor needs --aam",
		"--aam --aam-vendor a b":                 "",
		"--aam --aam-vendor=a\nb":                "want a name of letters",
		"--aam --aam-signer " + dir + "/nothing": "no such file",
		"--aam --aam-signer " + key:              "",
		"--aam --aam-wallet no-such-program":     "--aam-wallet",
		"--aam --aam-key " + key + " ":           "",
	} {
		cmd := &cobra.Command{}
		var o aamClientOptions
		o.flags(cmd)
		if err := cmd.ParseFlags(strings.Split(strings.TrimSpace(args), " ")); err != nil {
			t.Fatal(err)
		}
		err := o.check()
		var s *aamSites
		if err == nil {
			s, err = openAAMSites(o, t.TempDir(), aam.OpenPIN(dir+"/pin", nil))
		}
		got := ""
		if err != nil {
			got = err.Error()
		}
		if want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v", args, err)
		}
		if strings.Contains(got, "7777") {
			t.Errorf("%s: the error quotes a key", args)
		}
		if err == nil && o.signer != "" && (len(s.notes) != 1 || !strings.Contains(s.notes[0], "ahp-canvas aam pin")) {
			t.Errorf("%s: notes %v", args, s.notes)
		}
		s.close()
	}
}

// TestAAMMemory: a host that keeps no state writes no secret and no key anywhere.
func TestAAMMemory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	cmd := &cobra.Command{}
	var o aamClientOptions
	o.flags(cmd)
	if err := cmd.ParseFlags([]string{"--aam", "--aam-loopback", "--aam-key", filepath.Join(dir, "key")}); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == aam.WellKnown {
			fmt.Fprint(w, `{"aam_version":"0.1","site":{"name":"a","domain":"127.0.0.1"},"auth":{"required":true},"actions":[{"id":"a"}]}`)
			return
		}
		fmt.Fprint(w, `{"token":"agt_0123"}`)
	}))
	t.Cleanup(srv.Close)
	s, err := openAAMSites(o, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	at, err := aam.ParseSite(srv.URL, true)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := s.client.Discover(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Exchange(t.Context(), m, at, "owner", "KQ7F-M2XW"); err != nil {
		t.Fatal(err)
	}
	if _, in := s.client.SignedInAt(m, at, "owner"); !in {
		t.Error("the token is not used")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("files %v, %v", files, err)
	}
}
