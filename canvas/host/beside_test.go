package host_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// TestBesideLater: what clients of 0.5 and 0.6 receive in a transcript is byte for byte the
// same beside a client of 1.0 as beside one of 0.6 that sees the same session, chat and
// canvases, numbers of entries included.
func TestBesideLater(t *testing.T) {
	all, err := testcases.Transcripts()
	if err != nil {
		t.Fatal(err)
	}
	for n, transcript := range all {
		long := os.Getenv("AHP_LONG") == "1"
		if slices.Contains(transcript.Needs(), testcases.NeedsLater) || !long && n%5 != 0 && !strings.HasPrefix(transcript.Name, "open/") {
			continue
		}
		t.Run(transcript.Name, func(t *testing.T) {
			t.Parallel()
			var frames [2][]string
			for i, version := range []string{"0.6.0", "1.0.0"} {
				synctest.Test(t, func(t *testing.T) { frames[i] = playBeside(t, transcript, version) })
			}
			for i := range min(len(frames[0]), len(frames[1])) {
				if frames[0][i] != frames[1][i] {
					t.Fatalf("frame %d is\n%s\nbeside a client of 0.6, and beside one of 1.0\n%s", i, frames[0][i], frames[1][i])
				}
			}
			if len(frames[0]) != len(frames[1]) {
				t.Errorf("%d frames beside a client of 0.6, %d beside one of 1.0", len(frames[0]), len(frames[1]))
			}
		})
	}
}

// playBeside runs a transcript beside a client of a version, and returns what its
// connections received.
func playBeside(t *testing.T, transcript *testcases.Transcript, version string) []string {
	e := &recordingEnv{env: newEnv(t)}
	neighbor, err := e.env.Dial(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	chat := ""
	if version != "0.6.0" {
		chat = `,"ahp-chat://default/YWhwLXNlc3Npb246L2RlZmF1bHQ"`
	}
	e.neighbor = neighbor
	e.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","clientId":"neighbor","protocolVersions":["` + version + `"],"capabilities":{"canvas":{}},"initialSubscriptions":["ahp-session:/default"` + chat + `]}}`)
	if answer, err := neighbor.Next(); err != nil || !strings.Contains(string(answer), `"protocolVersion":"`+version) {
		t.Fatalf("the neighbor got %s, %v", answer, err)
	}
	if err := transcript.Run(t.Context(), e); err != nil {
		t.Errorf("beside a client of %s: %v", version, err)
	}
	e.stop()
	return e.frames
}

// recordingEnv records what the connections of a transcript receive. Beside them it has a
// client that subscribes to every canvas.
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
	secrets   = regexp.MustCompile(`"x-ahp-canvas/resume":"[A-Z2-7]+"`)
)

// follow subscribes the neighbor to the canvases that it has seen.
func (e *recordingEnv) follow() {
	for {
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
