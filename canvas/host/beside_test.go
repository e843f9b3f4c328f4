package host_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// playBeside runs a transcript of clients of 0.5 and 0.6, beside a client of a version or,
// if that is "", alone. It returns what the transcript's connections received.
func playBeside(t *testing.T, transcript *testcases.Transcript, version string) []string {
	e := &recordingEnv{env: newEnv(t)}
	if version != "" {
		e.connect(t, version)
	}
	if err := transcript.Run(t.Context(), e); err != nil {
		t.Errorf("%s (%s), beside %q: %v", transcript.Meta["title"], transcript.Meta["rule"], version, err)
	}
	e.stop()
	return e.frames
}

// connect connects the neighbor, a client of a version that sees the session, its chat and
// its canvases.
func (e *recordingEnv) connect(t *testing.T, version string) {
	var err error
	if e.neighbor, err = e.env.Dial(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	e.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","clientId":"neighbor","protocolVersions":["` + version + `"],"initialSubscriptions":["ahp-session:/default","ahp-chat://default/YWhwLXNlc3Npb246L2RlZmF1bHQ"]}}`)
	if answer, err := e.neighbor.Next(); err != nil || !strings.Contains(string(answer), `"protocolVersion":"`+version) {
		t.Fatalf("the neighbor got %s, %v", answer, err)
	}
}

// recordingEnv records what the connections of a transcript receive. Beside them it can
// have a client that subscribes to every canvas.
type recordingEnv struct {
	*env
	neighbor testcases.Conn
	seen     map[string]bool
	frames   []string
}

func (e *recordingEnv) send(frame string) {
	if err := e.neighbor.Send([]byte(frame)); err != nil {
		e.t.Fatal(err)
	}
}

var (
	canvasURI = regexp.MustCompile(`ahp-canvas:/[a-z0-9]+`)
	secrets   = regexp.MustCompile(`"x-ahp-canvas/resume":"[A-Z2-7]+"|"invitation":"[A-Za-z0-9_-]+"`)
)

// follow subscribes the neighbor to the canvases that it has seen.
func (e *recordingEnv) follow() {
	for e.neighbor != nil {
		// An error means that it has received everything.
		frame, err := e.neighbor.Next()
		if err != nil {
			return
		}
		for _, uri := range canvasURI.FindAllString(string(frame), -1) {
			if e.seen == nil {
				e.seen = map[string]bool{}
			}
			if !e.seen[uri] {
				e.seen[uri] = true
				e.send(`{"jsonrpc":"2.0","id":2,"method":"subscribe","params":{"channel":"` + uri + `"}}`)
			}
		}
	}
}

func (e *recordingEnv) Dial(ctx context.Context, args map[string]string) (testcases.Conn, error) {
	conn, err := e.env.Dial(ctx, args)
	if err != nil {
		return nil, err
	}
	return &recordingConn{conn, e}, nil
}

type recordingConn struct {
	testcases.Conn
	env *recordingEnv
}

func (c *recordingConn) Next() ([]byte, error) {
	c.env.follow()
	frame, err := c.Conn.Next()
	if err == nil {
		c.env.frames = append(c.env.frames, secrets.ReplaceAllString(string(frame), ""))
	}
	return frame, err
}
