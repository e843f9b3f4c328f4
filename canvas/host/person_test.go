package host_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/form"
)

// TestDecisionsArePeoples: a decision in a form, and the removal of a board's list, are
// refused from an agent's connection and from Views that only look; a person's are not.
// Each View says hello and learns the state.
func TestDecisionsArePeoples(t *testing.T) {
	for _, tc := range []struct{ canvas, input, do string }{
		{"form", `{"title":"T","fields":[{"name":"a","label":"A","type":"text"}]}`, `{"sample":"do","ref":1,"action":"decide","input":{"version":1,"decision":"approved","values":{}}}`},
		{"form", `{"title":"T","fields":[{"name":"a","label":"A","type":"text"}]}`, `{"sample":"do","ref":1,"action":"edit","input":{"version":1,"name":"a","value":"x"}}`},
		{"board", `{"title":"B"}`, `{"sample":"do","ref":1,"action":"remove_list","input":{"list":"Done"}}`},
	} {
		for token, want := range map[string]string{
			"view": `"sample":"done"`, "client": `"sample":"done"`, "agent": `"code":"person_required"`, "look": "(role_required)", "read": "(role_required)",
		} {
			t.Run(tc.canvas+"/"+token, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := newEnv(t)
					defer e.stop()
					for _, p := range []canvas.Declarer{form.New(), board.New()} {
						if _, err := e.host.Add(p); err != nil {
							t.Fatal(err)
						}
					}
					open, err := e.host.Canvases().Open(t.Context(), canvas.OpenArgs{
						Session: host.DefaultSession, CanvasID: tc.canvas, InstanceID: "one", Input: ahp.Value(tc.input),
					})
					if err != nil {
						t.Fatal(err)
					}
					if got := e.say(token, open.Channel, `{"sample":"hello"}`); !strings.Contains(got, `"sample":"state"`) {
						t.Errorf("hello: %s", got)
					}
					if got := e.say(token, open.Channel, tc.do); !strings.Contains(got, want) {
						t.Errorf("answer %s, want %s", got, want)
					}
				})
			})
		}
	}
}

// say sends a message as a View with a token, and returns all that arrives.
func (e *env) say(token, channel, payload string) string {
	e.t.Helper()
	return e.exchange(token, channel, fmt.Sprintf(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":%q,"clientSeq":1,"action":{"type":"canvas/message","payload":%s}}}`, channel, payload))
}

// request sends a request about a channel with a token, and returns all that arrives.
func (e *env) request(token, channel, subscribed, method, members string) string {
	e.t.Helper()
	return e.exchange(token, subscribed, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{"channel":%q,%s}}`, method, channel, members))
}

// exchange connects with a token, subscribes to a channel unless it is "", sends a frame,
// and returns all that arrives.
func (e *env) exchange(token, channel, frame string) string {
	e.t.Helper()
	c, err := e.Dial(e.t.Context(), map[string]string{"token": token})
	if err != nil {
		e.t.Fatal(err)
	}
	subscriptions := "[]"
	if channel != "" {
		subscriptions = fmt.Sprintf("[%q]", channel)
	}
	e.ask(c, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","clientId":%q,"protocolVersions":["0.6.0"],"initialSubscriptions":%s,"capabilities":{"canvas":{}}}}`, token, subscriptions)
	all := e.ask(c, "%s", frame)
	for {
		frame, err := c.Next()
		if err != nil {
			_ = c.Close(false)
			return all
		}
		all += string(frame)
	}
}
