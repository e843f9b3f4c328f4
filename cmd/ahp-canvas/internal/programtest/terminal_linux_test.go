package programtest

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// newTerminal returns a terminal of the kernel: what is written to near is read from far.
func newTerminal(t *testing.T) (near, far *os.File) {
	t.Helper()
	far, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this machine has no pseudo terminals: ", err)
	}
	t.Cleanup(func() { far.Close() })
	if err := unix.IoctlSetPointerInt(int(far.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(far.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if near, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	return near, far
}

// TestWhatIsAwaited checks that events and mcp say on a terminal what they wait for, and
// in a pipe nothing.
func TestWhatIsAwaited(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.serve("--state", "memory")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"events", "--follow"}, "Waiting for what people do in the canvases of http://"},
		{[]string{"mcp"}, "Waiting for an agent's messages on standard input."},
	} {
		near, far := newTerminal(t)
		cmd := m.command(t.Context(), c.args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = near, io.Discard, near
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(far).ReadString('\n')
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if !strings.HasPrefix(line, c.want) {
			t.Errorf("%q: %q, %v, want %q", c.args, line, err, c.want)
		}
	}
	if m.do(0, "events", "--timeout", "10ms"); m.err != "" {
		t.Errorf("in a pipe: %q", m.err)
	}
	if m.doWith("", 0, "mcp"); m.err != "" {
		t.Errorf("in a pipe: %q", m.err)
	}
}
