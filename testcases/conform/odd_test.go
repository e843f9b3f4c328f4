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

// request is a client's message to an odd host, with its sender.
type request struct {
	ID     any            `json:"id"`
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
	client string
}

// by reports whether one of the runner's own clients sent it, such as "probe", "stage1"
// and "stage2".
func (m request) by(client string) bool {
	return strings.HasSuffix(strings.TrimRight(m.client, "0123456789"), client)
}

// oddHost answers just enough for cases to be played on it, except for the
// messages that odd handles.
func oddHost(t *testing.T, odd func(c *websocket.Conn, m request) bool) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		var client string
		for {
			m := request{}
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

func answerOf(m request) any {
	switch m.Method {
	case "initialize":
		return object{"protocolVersion": "0.6.0", "serverSeq": 1, "snapshots": []any{}}
	case "subscribe":
		return object{"snapshot": object{"resource": m.Params["channel"], "fromSeq": 1, "state": object{"openCanvases": []any{}}}}
	}
	return nil
}

// caseOf makes a case for a test.
func caseOf(t *testing.T, text string) *testcases.Transcript {
	t.Helper()
	c, err := testcases.ParseTranscript("case", "# title: x\n# rule: MUST x\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const pingCase = `> {"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":null}` + "\n"

// Violations of AHP are reported as what they are, in limited time.
func TestOddHosts(t *testing.T) {
	// The second connection acts after everything that the first one caused has
	// arrived.
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
		text    string
		odd     func(c *websocket.Conn)
		timeout time.Duration
		want    string
	}{
		"is silent":                {twoConnections + "<...close 1008\n", sends(0, 0), timeout, "no frame arrived"},
		"sends very many messages": {twoConnections + "<...close 1008\n", sends(1<<17, 0), time.Minute, "the host sent more than"},
		"sends very long ones":     {twoConnections + "<...close 1008\n", sends(160, 1<<20), 5 * time.Minute, "the host sent more than"},
		"speaks no WebSocket": {twoConnections + "<close 1002\n", func(c *websocket.Conn) {
			_, _ = c.NetConn().Write([]byte("\xff\xff garbage"))
		}, time.Minute, "the runner ended the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && tc.timeout > time.Minute {
				t.Skip("160 MiB of JSON take the race detector minutes")
			}
			report, err := conform.Run(t.Context(), conform.Options{
				URL: oddHost(t, func(c *websocket.Conn, m request) bool {
					if m.Method == "odd" {
						tc.odd(c)
					}
					return m.Method == "odd"
				}),
				Timeout: tc.timeout, Cases: []*testcases.Transcript{caseOf(t, tc.text)},
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

// A host that becomes unreachable does not make every remaining case wait.
func TestUnreachableHost(t *testing.T) {
	var cases []*testcases.Transcript
	for range 10 {
		cases = append(cases, caseOf(t, pingCase))
	}
	var sessions atomic.Int64
	report, err := conform.Run(t.Context(), conform.Options{
		Timeout: timeout / 4, Cases: cases,
		URL: oddHost(t, func(_ *websocket.Conn, m request) bool {
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

// A stand-in waits for the host no longer than a case does.
func TestStandInTimeout(t *testing.T) {
	c := caseOf(t, "# needs: demo\n"+pingCase)
	began := time.Now()
	report, err := conform.Run(t.Context(), conform.Options{
		URL:     oddHost(t, func(_ *websocket.Conn, m request) bool { return m.by("demo") }),
		Timeout: timeout, Cases: []*testcases.Transcript{c},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := report.Results[0]; r.Status != conform.Failed || !strings.Contains(r.Problem, `stand-in for the extension "demo"`) || time.Since(began) > 5*timeout {
		t.Errorf("%+v after %v", r, time.Since(began))
	}
}

// waitingAgent is an agent whose calls last until their context is canceled.
type waitingAgent struct{ calls atomic.Int64 }

func (a *waitingAgent) Call(ctx context.Context, _ string, _ ahp.Value) (ahp.Value, error) {
	a.calls.Add(1)
	<-ctx.Done()
	a.calls.Add(-1)
	return nil, ctx.Err()
}

// What a case started and did not wait for ends with it.
func TestAnAgentsCallEndsWithItsCase(t *testing.T) {
	a := &waitingAgent{}
	_, err := conform.Run(t.Context(), conform.Options{
		URL: oddHost(t, func(*websocket.Conn, request) bool { return false }), Agent: a,
		Cases: []*testcases.Transcript{caseOf(t, "agent> list_open_canvases\n"+pingCase)},
	})
	if n := a.calls.Load(); err != nil || n != 0 {
		t.Errorf("%d calls are in progress: %v", n, err)
	}
}
