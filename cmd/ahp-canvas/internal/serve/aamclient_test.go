package serve

import (
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
