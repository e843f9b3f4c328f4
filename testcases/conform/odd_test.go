package conform_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// asked is a client's message to an odd host, and who sent it.
type asked struct {
	ID     any            `json:"id"`
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
	client string
}

// by reports whether a client of the runner's own sent it, as "probe" and "stage".
func (m asked) by(client string) bool { return strings.HasSuffix(m.client, client) }

// oddHost answers just enough for cases to be played on it, but for what odd takes
// upon itself.
func oddHost(t *testing.T, odd func(c *websocket.Conn, m asked) bool) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		var client string
		for {
			m := asked{}
			if c.ReadJSON(&m) != nil {
				return
			}
			if m.Method == "initialize" {
				client = m.Params["clientId"].(string)
			}
			if m.client = client; !odd(c, m) && m.ID != nil {
				_ = c.WriteJSON(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": answerOf(m)})
			}
		}
	}))
	t.Cleanup(server.Close)
	return "ws" + strings.TrimPrefix(server.URL, "http")
}

func answerOf(m asked) any {
	switch m.Method {
	case "initialize":
		return object{"protocolVersion": "0.6.0", "serverSeq": 1, "snapshots": []any{}}
	case "subscribe":
		return object{"snapshot": object{"resource": m.Params["channel"], "fromSeq": 1, "state": object{"openCanvases": []any{}}}}
	}
	return nil
}

// caseOf is a case of a test's own.
func caseOf(t *testing.T, text string) *testcases.Transcript {
	t.Helper()
	c, err := testcases.ParseTranscript("case", "# title: x\n# rule: MUST x\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const pingCase = `> {"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":null}` + "\n"

// What a host does that is not of AHP at all is told as what it is, in bounded time.
func TestOddHosts(t *testing.T) {
	// The second connection acts when all has come that the first one caused.
	const twoConnections = "open b\n" + `> {"jsonrpc":"2.0","method":"odd"}` + "\n" + `b> {"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	sends := func(n, size int) func(c *websocket.Conn) {
		text := []byte(`{"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("x", size) + `"}`)
		return func(c *websocket.Conn) {
			for range n {
				if c.WriteMessage(websocket.TextMessage, text) != nil {
					return
				}
			}
		}
	}
	for name, tc := range map[string]struct {
		text     string
		odd      func(c *websocket.Conn)
		patience time.Duration
		want     string
	}{
		"is silent":                {twoConnections + "<...close 1008\n", sends(0, 0), patience, "nothing came"},
		"sends very many messages": {twoConnections + "<...close 1008\n", sends(1<<17, 0), time.Minute, "the host sent more than"},
		"sends very long ones":     {twoConnections + "<...close 1008\n", sends(160, 1<<20), time.Minute, "the host sent more than"},
		"speaks no WebSocket": {twoConnections + "<close 1002\n", func(c *websocket.Conn) {
			_, _ = c.NetConn().Write([]byte("\xff\xff garbage"))
		}, time.Minute, "the connection had to be given up"},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := conform.Run(t.Context(), conform.Options{
				URL: oddHost(t, func(c *websocket.Conn, m asked) bool {
					if m.Method == "odd" {
						tc.odd(c)
					}
					return m.Method == "odd"
				}),
				Patience: tc.patience, Cases: []*testcases.Transcript{caseOf(t, tc.text)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if r := report.Results[0]; r.Status != conform.Failed || !strings.Contains(r.Problem, tc.want) {
				t.Errorf("%.300s, want %s", r.Problem, tc.want)
			}
		})
	}
}

// A host that is gone in the middle does not take the time of all cases that are
// left.
func TestAHostThatIsGone(t *testing.T) {
	var cases []*testcases.Transcript
	for range 10 {
		cases = append(cases, caseOf(t, pingCase))
	}
	var sessions atomic.Int64
	report, err := conform.Run(t.Context(), conform.Options{
		Patience: patience / 4, Cases: cases,
		URL: oddHost(t, func(_ *websocket.Conn, m asked) bool {
			return m.by("stage") && m.Method == "createSession" && sessions.Add(1) > 2
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := report.Count(), (conform.Count{Cases: 10, Passed: 2, Failed: 3, Skipped: 5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A stand-in waits for the host as long as a case does.
func TestAStandInIsPatientOnce(t *testing.T) {
	c := caseOf(t, "# needs: demo\n"+pingCase)
	began := time.Now()
	report, err := conform.Run(t.Context(), conform.Options{
		URL:      oddHost(t, func(_ *websocket.Conn, m asked) bool { return m.by("demo") }),
		Patience: patience, Cases: []*testcases.Transcript{c},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := report.Results[0]; r.Status != conform.Failed || !strings.Contains(r.Problem, "the stand-in for the extension demo") || time.Since(began) > 5*patience {
		t.Errorf("%+v after %v", r, time.Since(began))
	}
}

// waitingAgent answers when nobody waits any more.
type waitingAgent struct{ under atomic.Int64 }

func (a *waitingAgent) Call(ctx context.Context, _ string, _ ahp.Value) (ahp.Value, error) {
	a.under.Add(1)
	<-ctx.Done()
	a.under.Add(-1)
	return nil, ctx.Err()
}

// What a case began and did not wait for ends with it.
func TestAnAgentsCallEndsWithItsCase(t *testing.T) {
	a := &waitingAgent{}
	_, err := conform.Run(t.Context(), conform.Options{
		URL: oddHost(t, func(*websocket.Conn, asked) bool { return false }), Agent: a,
		Cases: []*testcases.Transcript{caseOf(t, "agent> list_open_canvases\n"+pingCase)},
	})
	if n := a.under.Load(); err != nil || n != 0 {
		t.Errorf("%d calls are under way: %v", n, err)
	}
}
