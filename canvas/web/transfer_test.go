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

// transferApp names the process that is the app of a transfer.
const transferApp = "AHP_TRANSFER_APP"

// TestTransferApp is that process: it says where it serves, until its input ends.
func TestTransferApp(t *testing.T) {
	if os.Getenv(transferApp) == "" {
		t.Skip("it is started by the benchmark")
	}
	a := benchApp(t)
	fmt.Println(a.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// benchApp is an app with what the benchmarks ask for.
func benchApp(t testing.TB) *app {
	a := liveApp(t)
	a.page("/x", `<title>x</title>`)
	a.HandleFunc("/frames", frames)
	return a
}

// startApp starts a benchApp in a process of its own, as people's apps are. In this
// one its 20 MB a request would be the host's garbage, and whose turn that was
// collected in was chance: the direct page had 160 to 490 MB/s.
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
