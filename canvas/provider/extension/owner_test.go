package extension

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	psnet "github.com/shirou/gopsutil/v4/net"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	program "github.com/ahp-canvas/ahp-canvas/canvas/process"
)

// TestListeners: the process that would answer is the one with exactly that address, then
// one with all addresses.
func TestListeners(t *testing.T) {
	socket := func(ip string, port uint32, pid int32, status string) psnet.ConnectionStat {
		return psnet.ConnectionStat{Laddr: psnet.Addr{IP: ip, Port: port}, Pid: pid, Status: status}
	}
	sockets := []psnet.ConnectionStat{
		socket("127.0.0.1", 80, 1, "LISTEN"), socket("::", 80, 2, "LISTEN"), socket("::1", 80, 3, "LISTEN"),
		socket("0.0.0.0", 81, 4, "LISTEN"), socket("*", 82, 5, "LISTEN"), socket("127.0.0.1", 83, 6, "ESTABLISHED"),
		socket("::ffff:127.0.0.1", 84, 7, "LISTEN"), socket("192.168.0.2", 85, 8, "LISTEN"), socket("127.0.0.1", 86, 0, "LISTEN"),
		socket("nonsense", 80, 9, "LISTEN"),
	}
	for _, c := range []struct {
		host string
		port uint32
		want []int32
	}{
		{"127.0.0.1", 80, []int32{1}}, {"::1", 80, []int32{3}}, {"localhost", 80, []int32{1, 3}},
		{"127.0.0.1", 81, []int32{4}}, {"localhost", 82, []int32{5}}, {"127.0.0.1", 83, nil},
		{"127.0.0.1", 84, []int32{7}}, {"localhost", 85, nil}, {"localhost", 86, []int32{0}},
	} {
		if diff := cmp.Diff(c.want, listeners(sockets, c.host, c.port)); diff != "" {
			t.Errorf("%s:%d: %s", c.host, c.port, diff)
		}
	}
}

// TestForeign: a process that Linux does not name is one of another user.
func TestForeign(t *testing.T) {
	own := func(pid int) bool { return pid == 7 }
	for _, c := range []struct {
		pids          []int32
		named, others bool // on a system that names all of the user's processes, and elsewhere
	}{
		{nil, false, false}, {[]int32{7}, false, false}, {[]int32{7, 8}, true, true}, {[]int32{0}, true, false}, {[]int32{0, 7}, true, false},
	} {
		if got := foreign(c.pids, own, true); got != c.named {
			t.Errorf("%v: foreign is %v on Linux", c.pids, got)
		}
		if got := foreign(c.pids, own, false); got != c.others {
			t.Errorf("%v: foreign is %v elsewhere", c.pids, got)
		}
	}
}

// TestCheckOwner looks at real sockets: of this process, and of a process of the group.
func TestCheckOwner(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g := &program.Group{}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FAKE_SERVER=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(cmd, (*exec.Cmd).Start); err != nil {
		t.Fatal(err)
	}
	defer func() { g.Kill(); _ = cmd.Wait() }()
	own, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := checkOwner(t.Context(), g, "http://"+strings.TrimSpace(own)+"/?token=x"); err != nil {
		t.Errorf("its own server: %v", err)
	}
	other := fmt.Sprintf("http://localhost:%d/", l.Addr().(*net.TCPAddr).Port)
	if err := checkOwner(t.Context(), g, other); !errors.Is(err, errForeign) {
		t.Errorf("the server of another process: %v", err)
	}
	l.Close()
	if err := checkOwner(t.Context(), g, other); err != nil {
		t.Errorf("no listener: %v", err)
	}
}

// TestForeignPort: an extension that names another server is refused, and the error says why.
func TestForeignPort(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.checkOwner = func(_ context.Context, _ *program.Group, raw string) error {
			if raw != "http://127.0.0.1:1/" {
				t.Errorf("the owner of %q was asked", raw)
			}
			return errForeign
		}
	})
	b.serving("kanban", "serve board")
	_, err := b.Canvases.Open(t.Context(), canvas.OpenArgs{
		Session: canvastest.Session, CanvasID: "board", InstanceID: "one", Input: ahp.Value(`{"url":"http://127.0.0.1:1/"}`),
	})
	if code(err) != canvas.CodeHandlerError || !strings.Contains(err.Error(), "another process") {
		t.Errorf("%v", err)
	}
	if got := b.pages.brief(); len(got) != 0 {
		t.Errorf("pages: %q", got)
	}
}
