package testcases

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// echoHost is a fake host: it returns each frame to its sender, "twice X" as
// two frames X, and closes with 1000 on "bye".
type echoHost struct {
	did []string
}

type echoConn struct {
	queue [][]byte
	code  int
}

func (h *echoHost) Dial(_ context.Context, args map[string]string) (Conn, error) {
	h.did = append(h.did, "dial "+args["token"])
	return &echoConn{}, nil
}

func (h *echoHost) Agent(_ context.Context, tool string, args ahp.Value) (ahp.Value, error) {
	switch tool {
	case "fail":
		return nil, &AgentError{Data: args}
	case "break":
		return nil, errors.New("the endpoint is broken")
	}
	return args, nil
}

func (h *echoHost) Host(_ context.Context, what string) error {
	h.did = append(h.did, "host "+what)
	return nil
}

func (h *echoHost) Flush() { synctest.Wait() }

func (h *echoHost) Pass(d time.Duration) { h.did = append(h.did, "pass "+d.String()) }

func (c *echoConn) Send(frame []byte) error {
	text := string(frame)
	again, twice := strings.CutPrefix(text, "twice ")
	switch {
	case text == "bye":
		c.code = 1000
	case twice:
		c.queue = append(c.queue, []byte(again), []byte(again))
	default:
		c.queue = append(c.queue, frame)
	}
	return nil
}

func (c *echoConn) Next() ([]byte, error) {
	if len(c.queue) > 0 {
		frame := c.queue[0]
		c.queue = c.queue[1:]
		return frame, nil
	}
	if c.code != 0 {
		return nil, &Closed{c.code}
	}
	return nil, ErrSilent
}

func (c *echoConn) Close(bool) error { return nil }

// TestRun checks that the runner notices every difference.
func TestRun(t *testing.T) {
	for _, tt := range []struct{ steps, err string }{
		{"> {\"a\":1}\n< {\"a\":1}", ""},
		{"> {\"a\":1}\n< {\"a\":2}", "x:4: /a: want 2, got 1"},
		{"> {\"a\":1}\n<!", "x:4: want no frame"},
		{"> {\"a\":1}", "at the end, on connection a: want no frame, got"},
		{"> twice {\"a\":1}\n< {\"a\":1}", "at the end, on connection a: want no frame, got"},
		{"> twice {\"a\":1}\n< {\"a\":1}\n<!", "x:5: want no frame"},
		{"< {}", "x:3: want {}: no frame arrived"},
		{"> bye\n<close 1000", ""},
		{"> bye\n<close 1009", "want a close with 1009"},
		{"> bye\n<!", "closed with 1000"},
		{"> bye\n< {}", "closed with 1000"},
		{"> 1\n<close 1000", "want a close with 1000, got 1"},
		{"<close 1000", "no frame arrived"},
		{"> bye", "at the end, on connection a: closed with 1000"},
		{">*3 1\n< 1\n< 1\n< 1", ""},
		{">*3 1\n< 1\n< 1", "at the end, on connection a: want no frame, got 1"},
		{"> 1\n> bye\n<...close 1000", ""},
		{"> 1\n> bye\n<...close 1008", "want a close with 1008"},
		{"> {\"method\":\"action\",\"params\":{\"serverSeq\":2}}\n< {\"$...\":true}\n> {\"method\":\"action\",\"params\":{\"serverSeq\":2}}\n< {\"$...\":true}", "serverSeq 2 does not rise above 2"},
		{"b> 1", "connection b is not open"},
		{"open b\nb> 1\nb< 1\nclose b\nb> 1", "x:7: connection b is not open"},
		{"> {\"a\":$x}", "$x is not bound"},
		{"> {\"a\":5}\n< {\"a\":\"$x\"}\nopen b\nb> [$x]\nb< [5]", ""},
		{"> {\"a\":5}\n< {\"a\":\"$x\"}\n> {\"a\":6}\n< {\"a\":\"$x\"}", "x:6: /a: $x is bound to 5, got 6"},
		{"agent> tool {\"a\":1}\nagent< {\"a\":1}", ""},
		{"agent> tool\nagent< {}", ""},
		{"agent> tool {\"a\":1}\nagent< {\"a\":2}", "/a: want 2"},
		{"agent> tool {\"a\":1}\nagent<error {\"a\":1}", "want error"},
		{"agent> fail {\"a\":1}\nagent<error {\"a\":1}", ""},
		{"agent> fail {\"a\":1}\nagent<error {\"a\":2}", "/a: want 2"},
		{"agent> fail {\"a\":1}\nagent< {\"a\":1}", "got error"},
		{"agent> break\nagent<error {}", "the endpoint is broken"},
		{"agent< {}", "no call of the agent is in progress"},
	} {
		tr, err := ParseTranscript("x", head+tt.steps)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) { err = tr.Run(t.Context(), &echoHost{}) })
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: got %v, want %q", tt.steps, err, tt.err)
		}
	}
}

// TestRunDoes checks that steps that send no frame reach the host.
func TestRunDoes(t *testing.T) {
	tr, err := ParseTranscript("x", head+"open b token=agent\n@ 90s\nhost gone demo\n> 1\n< 1")
	if err != nil {
		t.Fatal(err)
	}
	h := &echoHost{}
	synctest.Test(t, func(t *testing.T) { err = tr.Run(t.Context(), h) })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(h.did, "; "), "dial agent; pass 1m30s; host gone demo; dial "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
