package programtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestAAPFar: host, relay and browser are in three networks; the relay is killed between
// press and answer.
func TestAAPFar(t *testing.T) {
	f, args := newFarMachines(t)
	p := approvalsOf(f.m, t.TempDir(), args...)
	p.pressAndKill(t, f.browser(t), runs(2, 50), func() {
		f.killRelay()
		f.startRelay(t)
	})
}

// newFarMachines starts a relay in its own namespace. The arguments are those of a host that
// people reach through it; nothing else is in its place.
func newFarMachines(t *testing.T) (f *far, hostArgs []string) {
	n := newNetwork(t)
	f = &far{evidence: &evidence{m: newMachine(t)}, net: n, relayM: newMachine(t)}
	f.m.via, f.relayM.via = via(n.host), via(n.relay)
	dir := t.TempDir()
	cert, key := ahptest.WriteCertificate(t, dir, 1, "relay.test", "*.canvas.test")
	f.trust(t, cert)
	tokens, laptop := filepath.Join(dir, "tokens.json"), filepath.Join(dir, "laptop.json")
	made := f.relayM.do(0, "relay", "token", "--tokens", tokens, "--host", "laptop")
	if err := os.WriteFile(laptop, []byte(made), 0o600); err != nil {
		t.Fatal(err)
	}
	f.relayArgs = []string{
		"relay", "--listen", "0.0.0.0:" + relayPort, "--tokens", tokens, "--tls-cert", cert, "--tls-key", key,
		"--origin", "https://relay.test:" + relayPort, "--content-origin", "https://*.canvas.test:" + relayPort,
	}
	f.startRelay(t)
	t.Cleanup(f.killRelay)
	f.m.env = append(f.m.env, "SSL_CERT_FILE="+cert)
	return f, []string{"--relay", relayWords, "--relay-token-file", laptop}
}

// browser starts a browser in the client's namespace, which knows the relay alone.
func (f *far) browser(t *testing.T) *webtest.Browser {
	t.Helper()
	browserIn(t, f.net.client)
	return webtest.Start(t, "ignore-certificate-errors-spki-list="+f.spki,
		fmt.Sprintf("host-resolver-rules=MAP relay.test %s,MAP *.canvas.test %s", relayToClient, relayToClient))
}

// TestAAPFullDisk: on a full disk nothing is acknowledged and no half record exists; it
// works again once there is space.
func TestAAPFullDisk(t *testing.T) {
	m, dir := newMachine(t), t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k,mode=0700"); err != nil {
		t.Skipf("no small disk can be mounted here (it takes root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s := m.serve("--aap-agent", "builder="+dir, "--aap-open", "none")
	body := `{"action":"click","canvasFile":"p.html","data":"` + strings.Repeat("x", 9000) + `"}`
	stored := 0
	for status := 201; status == 201; stored++ {
		var err error
		if status, _, err = s.click("builder", s.ViewToken, body); err != nil || status != 201 && status != 500 {
			t.Fatalf("status %d, %v", status, err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "interactions", "*"))
	if len(files) != stored-1 || stored < 3 {
		t.Errorf("%d files of %d records", len(files), stored-1)
	}
	if err := errors.Join(os.Remove(files[0]), os.Remove(files[1])); err != nil {
		t.Fatal(err)
	}
	if status, _, err := s.click("builder", s.ViewToken, body); status != 201 || err != nil {
		t.Errorf("with space again: %d, %v", status, err)
	}
}
