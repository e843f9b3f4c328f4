package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/remote"
)

const (
	cardV03 = `{"url":"BASE/a2a"}`
	cardV1  = `{"supportedInterfaces":[{"url":"BASE/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`
)

// TestShapes: A2A 0.3 has one part for each message, with an object; 1.0 has a list for
// those of one version. The MIME type is that of the messages' version (rules 31 and 32).
func TestShapes(t *testing.T) {
	message := func(version, name string) ahp.Value {
		return ahp.Value(`{"version":"` + version + `","action":{"name":"` + name + `"}}`)
	}
	turnOf := a2ui.Turn{Text: "words", Messages: []ahp.Value{message("v0.9", "a"), message("v0.9", "b"), message("v0.9.1", "c")}}
	data := func(kind, mime, data string) string {
		return fmt.Sprintf(`{%s,"metadata":{"mimeType":"%s"},"data":%s}`, strings.ReplaceAll(kind, "MIME", mime), mime, data)
	}
	a, b, c := string(turnOf.Messages[0]), string(turnOf.Messages[1]), string(turnOf.Messages[2])
	const v09, v091 = "application/json+a2ui", "application/a2ui+json"
	for _, tt := range []struct {
		card, method string
		want         []string
	}{
		{cardV03, "message/send", []string{`{"kind":"text","text":"words"}`, data(`"kind":"data"`, v09, a), data(`"kind":"data"`, v09, b), data(`"kind":"data"`, v091, c)}},
		{cardV1, "SendMessage", []string{`{"text":"words"}`, data(`"mediaType":"MIME"`, v09, "["+a+","+b+"]"), data(`"mediaType":"MIME"`, v091, "["+c+"]")}},
	} {
		sent := make(chan ahp.Value, 1)
		f := fakeAgent(t, "", nil)
		f.card = tt.card
		f.Config.Handler = recording(f, sent)
		turn(t, f.agent(t, remote.Limits{}), turnOf)
		var req struct {
			Method string `json:"method"`
			Params struct {
				Message struct {
					Parts []ahp.Value `json:"parts"`
					Extra ahp.Value   `json:",embed"`
				} `json:"message"`
				Extra ahp.Value `json:",embed"`
			} `json:"params"`
			Extra ahp.Value `json:",embed"`
		}
		if err := ahp.Unmarshal(<-sent, &req); err != nil {
			t.Fatal(err)
		}
		same := slices.EqualFunc(req.Params.Message.Parts, tt.want, func(got ahp.Value, want string) bool { return ahp.Equal(got, ahp.Value(want)) })
		if req.Method != tt.method || !same {
			t.Errorf("%s %s, want %s %s", req.Method, req.Params.Message.Parts, tt.method, tt.want)
		}
	}
}

// recording passes the bodies of turns on, and answers them.
func recording(f *fake, sent chan<- ahp.Value) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a2a" {
			f.ServeHTTP(w, r)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		sent <- raw
		var req struct {
			ID    string    `json:"id"`
			Extra ahp.Value `json:",embed"`
		}
		_ = ahp.Unmarshal(raw, &req)
		_, _ = io.WriteString(w, `{"id":"`+req.ID+`","result":`+finished+`}`)
	})
}

// TestShapesAccepted: an object and a list, with either MIME type, are accepted from both
// versions of A2A (rules 31 and 32).
func TestShapesAccepted(t *testing.T) {
	const one = `{"version":"v0.9","deleteSurface":{"surfaceId":"s"}}`
	for _, card := range []string{cardV03, cardV1} {
		for _, mime := range []string{"application/json+a2ui", "application/a2ui+json"} {
			for _, data := range []string{one, "[" + one + "," + one + "]"} {
				body := `{"jsonrpc":"2.0","id":"ID","result":{"kind":"message","messageId":"m","parts":[{"kind":"data","data":` + data + `,"metadata":{"mimeType":"` + mime + `"}}]}}`
				f := fakeAgent(t, "", func(w http.ResponseWriter, _ *http.Request, id string) {
					_, _ = io.WriteString(w, strings.Replace(body, "ID", id, 1))
				})
				f.card = card
				got := turn(t, f.agent(t, remote.Limits{}), a2ui.Turn{Text: "x"})
				if len(got) != 1 || len(got[0].Parts) != 1 {
					t.Errorf("%s %s: %+v", mime, data, got)
					continue
				}
				list, err := a2ui.Messages(got[0].Parts[0])
				if want := strings.Count(data, one); err != nil || len(list) != want {
					t.Errorf("%s %s: %d messages, %v; want %d", mime, data, len(list), err, want)
				}
			}
		}
	}
}

// TestCardPaths: the card is read at the path of newer versions, and at the older one only
// if there is none. A card without an extension that is known works (rule 30).
func TestCardPaths(t *testing.T) {
	for _, old := range []bool{false, true} {
		var asked []string
		f := fakeAgent(t, event(finished), nil)
		f.oldCard = old
		inner := f.Config.Handler
		f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path)
			inner.ServeHTTP(w, r)
		})
		want := []string{"/.well-known/agent-card.json", "/.well-known/agent.json", "/a2a"}
		if !old {
			want = slices.Delete(want, 1, 2)
		}
		if got := outline(turn(t, f.agent(t, remote.Limits{}), a2ui.Turn{Text: "x"})); !cmp.Equal(got, []string{"completed"}) {
			t.Errorf("the turn gave %q", got)
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("requests (-want +got)\n%s", diff)
		}
	}
}

// TestNewestA2A: 1.0 is used if the card has a JSON-RPC interface of it, whatever stands
// first, and otherwise 0.3 (rule 30).
func TestNewestA2A(t *testing.T) {
	const v1, v03 = `{"url":"BASE/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}`, `{"url":"BASE/old","protocolBinding":"JSONRPC","protocolVersion":"0.3"}`
	for card, want := range map[string]string{
		`{"url":"BASE/old","supportedInterfaces":[` + v1 + `]}`:                                        "1.0",
		`{"supportedInterfaces":[` + v03 + `,` + v1 + `]}`:                                             "1.0",
		`{"supportedInterfaces":[` + v1 + `,` + v03 + `]}`:                                             "1.0",
		`{"supportedInterfaces":[` + v03 + `]}`:                                                        "0.3",
		`{"url":"BASE/a2a","supportedInterfaces":[` + strings.Replace(v1, "JSONRPC", "GRPC", 1) + `]}`: "0.3",
	} {
		f := fakeAgent(t, "", nil)
		f.card = card
		if got, err := f.agent(t, remote.Limits{}).Check(t.Context()); err != nil || got.A2A != want {
			t.Errorf("%s: %+v, %v; want %s", card, got, err, want)
		}
	}
}
