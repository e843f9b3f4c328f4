package testcases

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// echoClient is a fake client: "say X" opens a connection if there is none and
// sends X, "fail" fails, "hang" never finishes. Its state of every channel is
// the last frame that it received.
type echoClient struct {
	conns    []*echoEnd
	taken    int
	err      error
	busy     bool
	received string
}

type echoEnd struct {
	client *echoClient
	queue  [][]byte
	closed bool
}

func (c *echoClient) Do(_ context.Context, what string) error {
	word, rest, _ := strings.Cut(what, " ")
	c.err, c.busy = nil, word == "hang"
	switch word {
	case "hang":
	case "bye":
		c.conns[len(c.conns)-1].closed = true
	case "fail":
		c.err = ahp.ErrNotFound
	case "say":
		if len(c.conns) == 0 || c.conns[len(c.conns)-1].closed {
			c.conns = append(c.conns, &echoEnd{client: c})
		}
		last := c.conns[len(c.conns)-1]
		last.queue = append(last.queue, []byte(rest))
	default:
		return errors.New("this client cannot " + word)
	}
	return nil
}

func (c *echoClient) Done() (bool, error) { return !c.busy, c.err }

func (c *echoClient) State(uri string) (ahp.Value, bool) { return ahp.Value(c.received), uri == "x:/" }

func (c *echoClient) Accept() (Conn, error) {
	if c.taken == len(c.conns) {
		return nil, ErrSilent
	}
	c.taken++
	return c.conns[c.taken-1], nil
}

func (c *echoClient) Flush()             {}
func (c *echoClient) Pass(time.Duration) {}

func (e *echoEnd) Send(frame []byte) error {
	e.client.received = string(frame)
	return nil
}

func (e *echoEnd) Next() ([]byte, error) {
	if len(e.queue) > 0 {
		frame := e.queue[0]
		e.queue = e.queue[1:]
		return frame, nil
	}
	if e.closed {
		return nil, &Closed{Code: 1000}
	}
	return nil, ErrSilent
}

func (e *echoEnd) Close(bool) error {
	e.closed = true
	return nil
}

func TestRunClient(t *testing.T) {
	for _, tt := range []struct{ steps, err string }{
		{"client say 1\n> 1\nclient done", ""},
		{"client say 1\n> 2", "x:4: : want 2, got 1"},
		{"client say 1\n> 1\n> 1", "no frame arrived"},
		{"client say 1\n> 1\n>!", ""},
		{"client say 1\n>!", "want no frame, got 1"},
		{"client say 1\n> 1\n>? 2", ""},
		{"client say 1\n>? 1", ""},
		{"client say 1\n>? 2", "want 2, got 1"},
		{"client say 1\nclient say 2\n> 1", "at the end, on connection a: want no frame, got 2"},
		{"client say 1\n> 1\nclient bye\n>!", ""},
		{"client say 1\n> 1\nclient bye\n> 2", "closed with 1000"},
		{"> 1", "the client has not opened connection a"},
		{"client say 1\n> 1\nb> 1", "the client has not opened connection b"},
		{"client say 1\n> 1\ncut a\nclient say 2\nb> 2", ""},
		{"client say {\"id\":7}\n> {\"id\":\"$id\"}\n< {\"id\":$id}\nclient state x:/ {\"id\":7}", ""},
		{"client say {\"id\":7}\n> {\"id\":\"$id\"}\n< {\"id\":$id}\nclient state x:/ {\"id\":8}", "/id: want 8, got 7"},
		{"client state x:/ none", "the client still has x:/"},
		{"client state y:/ none", ""},
		{"client state y:/ 1", "the client does not have y:/"},
		{"client say 1\n> 1\n< $nobody", "$nobody is not bound"},
		{"client fail\nclient failed", ""},
		{"client fail\nclient failed -32008", ""},
		{"client fail\nclient failed -32001", "want error -32001"},
		{"client fail\nclient failed soon", "want error soon"},
		{"client fail\nclient done", "the client failed"},
		{"client say 1\n> 1\nclient failed", "the client did not fail"},
		{"client hang\nclient done", "has not finished"},
		{"client hang\nclient failed", "has not finished"},
		{"client fly", "this client cannot fly"},
		{"client say 1\n> 1\nhost gone demo", "only for transcripts that test a host"},
		{"client say 1\n> 1\n<!", "only for transcripts that test a host"},
	} {
		tr, err := ParseTranscript("x", head+tt.steps)
		if err != nil {
			t.Fatal(err)
		}
		err = tr.RunClient(t.Context(), &echoClient{})
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: got %v, want %q", tt.steps, err, tt.err)
		}
	}
}

// TestClientTranscriptFiles checks the format of client-side transcripts, and
// that they have each request of a host answered and refused, and each outcome
// of a resume.
func TestClientTranscriptFiles(t *testing.T) {
	all, err := ClientTranscripts()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, tr := range all {
		if !strings.HasPrefix(tr.Name, "client/") || !source.MatchString(tr.Meta["rule"]) || tr.Meta["needs"] != "" {
			t.Errorf("%s: rule %q, needs %q", tr.Name, tr.Meta["rule"], tr.Meta["needs"])
		}
		for _, s := range tr.Steps {
			if s.Op == OpSend && !ahp.Value(s.Text).IsValid() {
				t.Errorf("%s:%d: the expectation is no JSON", tr.Name, s.Line)
			}
			text.WriteString(s.Text + "\n")
		}
	}
	for _, shown := range []string{
		`"method":"initialize"`, `"method":"reconnect"`, `"method":"subscribe"`, `"method":"unsubscribe"`, `"method":"dispatchAction"`, `"method":"canvasReadResource"`,
		`"method":"canvasOpen"`, `"method":"canvasInvokeAction"`, `"method":"canvasClose"`, `"method":"resourceRead"`, `"type":"replay"`, `"type":"snapshot"`, `"rejectionReason"`,
		`"missing":["`, `"code":-32601`, `"code":-32012`, `"code":-32008`, `"code":-32005`, `"type":"session/later"`,
	} {
		if !strings.Contains(text.String(), shown) {
			t.Errorf("no client-side transcript has %s", shown)
		}
	}
	for _, tr := range transcripts(t) {
		if tr.Side() != SideHost || strings.HasPrefix(tr.Name, "client/") {
			t.Errorf("%s is no transcript for hosts", tr.Name)
		}
	}
}
