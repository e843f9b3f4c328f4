package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// transferApp is the environment variable that marks the app's process.
const transferApp = "AHP_TRANSFER_APP"

// TestTransferApp is that process: it prints its address and serves until its input
// ends.
func TestTransferApp(t *testing.T) {
	if os.Getenv(transferApp) == "" {
		t.Skip("it is started by the benchmark")
	}
	a := benchApp(t)
	fmt.Println(a.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// benchApp is an app with the routes of the benchmarks.
func benchApp(t testing.TB) *app {
	a := liveApp(t)
	a.page("/x", `<title>x</title>`)
	a.HandleFunc("/frames", frames)
	return a
}

// startApp starts a benchApp in its own process, as apps usually run. In this process,
// the garbage of its 20 MB per request would be collected at the host's expense, at
// random: the direct page then had 160 to 490 MB/s.
func startApp(b *testing.B) *app {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestTransferApp$")
	cmd.Env = append(os.Environ(), transferApp+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(url, "http://") {
		b.Fatalf("the app's process says %q, %v", url, err)
	}
	return &app{Server: &httptest.Server{URL: strings.TrimSpace(url)}, ServeMux: http.NewServeMux()}
}
