package conform_test

import (
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/testcases"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// write returns the transcript of an exchange. A line is "link>frame" or
// "link<frame".
func write(t *testing.T, exchange ...string) string {
	t.Helper()
	r := &conform.Recorder{Title: "x\ny"}
	r.Opened(0, "S-secret-token")
	for _, line := range exchange {
		r.Frame(0, line[0] == '>', []byte(line[1:]))
	}
	r.Ended(0, true, ws.CodePolicy)
	r.Frame(0, false, []byte("late"))
	var b strings.Builder
	if _, err := r.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := testcases.ParseTranscript("x", b.String()); err != nil {
		t.Errorf("%v\n%s", err, b.String())
	}
	return b.String()
}

func TestRecorder(t *testing.T) {
	const canvas, label = "ahp-canvas:/0b9d", "0123456789abcdef0123456789abcdef"
	got := write(t,
		`>{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"initialSubscriptions":["ahp-session:/old"]}}`,
		`<{"jsonrpc":"2.0","id":1,"result":{"serverSeq":7,"snapshots":[{"resource":"ahp-session:/old","state":{"title":"T"},"fromSeq":7}]}}`,
		`>{"jsonrpc":"2.0","id":2,"method":"createSession","params":{"channel":"ahp-session:/new"}}`,
		`<{"jsonrpc":"2.0","id":2,"result":null}`,
		`>{"jsonrpc":"2.0","id":"s","method":"subscribe","params":{"channel":"ahp-session:/new"}}`,
		`<{"jsonrpc":"2.0","id":"s","result":{"snapshot":{"resource":"ahp-session:/new","state":{"n":1.50,"z":null,"createdAt":"now"},"fromSeq":8}}}`,
		`<{"jsonrpc":"2.0","id":"h1","method":"canvasOpen","params":{"channel":"`+canvas+`"}}`,
		`>{"jsonrpc":"2.0","id":"h1","result":{"url":"https://x.example/S-secret-token"}}`,
		`<{"jsonrpc":"2.0","id":9,"method":"canvasClose","params":{"channel":"`+canvas+`"}}`,
		`>{"jsonrpc":"2.0","result":null,"id":9}`,
		`>{"jsonrpc":"2.0","id":3,"method":"authenticate","params":{"token":"of another session"}}`,
		`<{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no such resource"}}`,
		`<{"_meta":{"x-ahp-canvas/resume":"R-secret"}}`,
		`>{"jsonrpc":"2.0","id":4,"method":"reconnect","params":{"lastSeenServerSeq":8,"_meta":{"x-ahp-canvas/resume":"R-secret"}}}`,
		`<{"jsonrpc":"2.0","id":4,"result":{"x":"$name","y":{"$...":true}}}`,
		`<{"id":5,"result":{"url":"http://g-`+label+`.localhost:8080/?~t=S-secret-token","text":"<iframe src=\"http://g-`+label+`.localhost/\">"}}`,
		`>{"id":6,"x":"http://g-`+label+`.localhost:8080/?a=b\u0026\u007et=address-secret#f","label":"`+label+`"}`,
		`>{"x":"\u0053-secret-token"}`, `<{"x":"\u0053-secret-token"}`, ">{\"no\":\n\xff", `>{"price":"$five"}`,
	)
	want := `# title: x y
# rule: OURS a recording: name the rule that it tests
# needs: canvas
# sessions: old
open a
a> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"initialSubscriptions":["ahp-session:/old"]}}
a< {"id":1,"jsonrpc":"2.0","result":{"serverSeq":"$*","snapshots":[{"fromSeq":"$*","resource":"ahp-session:/old","state":"$*"}]}}
a> {"jsonrpc":"2.0","id":2,"method":"createSession","params":{"channel":"ahp-session:/new"}}
a< {"id":2,"jsonrpc":"2.0","result":null}
a> {"jsonrpc":"2.0","id":"s","method":"subscribe","params":{"channel":"ahp-session:/new"}}
a< {"id":"s","jsonrpc":"2.0","result":{"snapshot":{"fromSeq":"$s8","resource":"ahp-session:/new","state":{"createdAt":"$*","n":1.50,"z":null}}}}
a< {"id":"$ask1","jsonrpc":"2.0","method":"canvasOpen","params":{"channel":"$canvas1"}}
a> {"jsonrpc":"2.0","id":"$ask1","result":{"url":"https://x.example/token"}}
a< {"id":"$ask2","jsonrpc":"2.0","method":"canvasClose","params":{"channel":"$canvas1"}}
a> {"jsonrpc":"2.0","result":null,"id":$ask2}
a> {"jsonrpc":"2.0","id":3,"method":"authenticate","params":{"token":"token"}}
a< {"error":{"code":-32602,"message":"$*"},"id":3,"jsonrpc":"2.0"}
a< {"_meta":{"x-ahp-canvas/resume":"$secret1"}}
a> {"jsonrpc":"2.0","id":4,"method":"reconnect","params":{"lastSeenServerSeq":$s8,"_meta":{"x-ahp-canvas/resume":"$secret1"}}}
a< {"id":4,"jsonrpc":"2.0","result":{"x":"$*","y":"$*"}}
a< {"id":5,"result":{"text":"$*","url":"$*"}}
a> {"id":6,"label":"8977f35f0614aaee1286892f46c8b474","x":"http://g-8977f35f0614aaee1286892f46c8b474.localhost:8080/?a=b&~t=token#f"}
a> {"x":"token"}
a< {"x":"token"}
a> "{\"no\":\n\xff"
a> "{\"price\":\"$five\"}"
a<close 1008
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzRecorder checks that every recording can be parsed and contains no token.
// The token begins with a letter that ends no escape.
func FuzzRecorder(f *testing.F) {
	f.Add(`{"id":1,"method":"x"}`, `{"id":1,"result":{"snapshot":{"resource":"ahp-session:/a","state":{},"fromSeq":1}}}`)
	f.Add("\xff\"\n", `{"id":"$x","method":"canvasOpen"}`)
	f.Add(`{"\u0053-secret-token":1,"\u0053-secret-token":2}`, `["\u0053-secret-token"]`)
	f.Add("0", "[\x1e\\3\xfa\x00\x00\xfa-secret-token\"]")
	f.Add(`"S-secret-token"`, `{"a":"S-secret-token"}`)
	f.Fuzz(func(t *testing.T, sent, received string) {
		text := write(t, ">"+sent, "<"+received, ">"+received, "<"+sent)
		if strings.Contains(text, "S-secret-token") {
			t.Errorf("the token is in\n%s", text)
		}
	})
}
