package extension

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
)

// serveNpmApps shows unmodified apps from npm through a loopback provider.
func serveNpmApps(t *testing.T, dir string) {
	data := filepath.Join(t.TempDir(), "db.json")
	if err := os.WriteFile(data, []byte(`{"cards":[{"id":1,"title":"first"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, app := range []struct {
		name string
		args func(port string) []string
		use  func(*testing.T, *viewer)
	}{
		{"http-server", func(port string) []string { return []string{dir, "-a", "127.0.0.1", "-p", port, "-s"} }, browseFiles},
		{"json-server", func(port string) []string {
			return []string{data, "--host", "127.0.0.1", "--port", port, "--quiet"}
		}, editCards},
	} {
		t.Run(app.name, func(t *testing.T) {
			port := freePort(t)
			runApp(t, dir, app.name, port, app.args(port))
			b := newBench(t, nil)
			p, err := loopback.New(app.name, "http://127.0.0.1:"+port+"/", loopback.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			p.Watch(b.Register(canvas.Extension{ID: p.ID()}, p, p.Declarations()...))
			app.use(t, b.view(b.Open(app.name, "one", nil).Channel))
		})
	}
}

func browseFiles(t *testing.T, v *viewer) {
	want, err := os.ReadFile("testdata/counter/extension.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if code, body := v.fetch("GET", "/counter/extension.mjs", nil, nil); code != 200 || body != string(want) {
		t.Errorf("a file: %d, %d bytes of %d", code, len(body), len(want))
	}
	if code, body := v.fetch("GET", "/counter/", nil, nil); code != 200 || !strings.Contains(body, "extension.mjs") {
		t.Errorf("a listing: %d", code)
	}
	if code, _ := v.fetch("GET", "/absent", nil, nil); code != 404 {
		t.Errorf("a missing file: %d", code)
	}
	if code, body := v.fetch("GET", "/package.json", http.Header{"Range": {"bytes=0-0"}}, nil); code != 206 || body != "{" {
		t.Errorf("a part: %d %q", code, body)
	}
}

func editCards(t *testing.T, v *viewer) {
	asJSON := http.Header{"Content-Type": {"application/json"}}
	if code, body := v.fetch("POST", "/cards", asJSON, strings.NewReader(`{"title":"second"}`)); code != 201 || !strings.Contains(body, `"id": 2`) {
		t.Errorf("POST: %d %s", code, body)
	}
	if code, _ := v.fetch("PATCH", "/cards/2", asJSON, strings.NewReader(`{"title":"third"}`)); code != 200 {
		t.Errorf("PATCH: %d", code)
	}
	if code, body := v.fetch("GET", "/cards?title=third", nil, nil); code != 200 || !strings.Contains(body, `"third"`) {
		t.Errorf("GET: %d %s", code, body)
	}
	if code, _ := v.fetch("DELETE", "/cards/1", nil, nil); code != 200 {
		t.Errorf("DELETE: %d", code)
	}
	if code, body := v.fetch("GET", "/", nil, nil); code != 200 || !strings.Contains(body, "<html") {
		t.Errorf("its page: %d", code)
	}
}

// runApp starts an app and waits until it listens. The app ends with the test.
func runApp(t *testing.T, dir, name, port string, args []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "node_modules", ".bin", name), args...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	eventually(t, name, func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
}
