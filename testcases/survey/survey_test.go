package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/testcases/built"
	"github.com/gorilla/websocket"
)

// appEnv makes this test the app that a survey starts: works or breaks, and its address.
const appEnv = "AHP_SURVEY_APP"

func TestMain(m *testing.M) {
	if name, address, ok := strings.Cut(os.Getenv(appEnv), "="); ok {
		fmt.Fprintln(os.Stderr, serveApp(name, address))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// testPage counts presses on the server, by a WebSocket. The app that breaks does it only
// in a tab.
const testPage = `<!doctype html><title>App</title><button>Press</button><input aria-label="Name"><p>waits</p><script>
	const ws = new WebSocket(location.origin.replace("http", "ws") + "/count");
	ws.onmessage = (m) => { document.querySelector("p").textContent = "pressed " + m.data; };
	document.querySelector("button").onclick = () => { if (NAME === "works" || top === window) ws.send("x".repeat(document.querySelector("input").value.length)); else console.error("only in a tab"); };
</script>`

func serveApp(name, address string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.ReplaceAll(testPage, "NAME", fmt.Sprintf("%q", name)))
	})
	mux.HandleFunc("/count", func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		for n := 1; ; n++ {
			if _, _, err := c.ReadMessage(); err != nil {
				return
			}
			if err := c.WriteMessage(websocket.TextMessage, fmt.Append(nil, strings.Repeat("I", n))); err != nil {
				return
			}
		}
	})
	return http.ListenAndServe(address, mux)
}

// TestSurvey surveys an app that works, and one that does so in a tab alone: a press that
// does nothing in a canvas must show.
func TestSurvey(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("runs the program and a browser")
	}
	if _, err := exec.LookPath("chromium"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("chromium is not installed")
	}
	binary, remove, err := built.Program(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	var out strings.Builder
	_, err = exec.LookPath("ip")
	apart := err == nil && os.Geteuid() == 0
	s, err := newSurvey(t.Context(), binary, &out, apart)
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop()
	for _, name := range []string{"works", "breaks"} {
		a := &app{Name: name, Path: "/", Controls: 2, Run: []string{os.Args[0]}, Env: []string{appEnv + "=" + name + "=127.0.0.1:{port}"}, dir: t.TempDir()}
		if name == "works" {
			a.Steps = []step{{Click: "button"}, {See: "pressed I"}}
		}
		r := &result{Name: name}
		r.visits(func(w way) (seen, error) { return s.visitApp(t.Context(), a, w) })
		s.add(r)
	}
	if err := s.table(); err != errDiffers {
		t.Errorf("the survey ends with %v", err)
	}
	t.Logf("\n%s", &out)
	if at := s.results[0].Seen[relayed].At; apart && !strings.HasSuffix(at, strings.TrimPrefix(relayContent, "*")+":"+relayPort) {
		t.Errorf("through the relay, the app is at %s", at)
	}
	for _, w := range canvases {
		works, breaks := s.results[0], s.results[1]
		if v := works.Verdicts[w]; !v.Works || works.Seen[w].Sockets == 0 {
			t.Errorf("%s: the app that works: %+v, %d WebSockets", w, v, works.Seen[w].Sockets)
		}
		want := []string{`control "button:submit Press": nothing, directly changed`, "error: only in a tab"}
		if v := breaks.Verdicts[w]; v.Works || !v.Opens || !slices.Equal(v.Why, want) {
			t.Errorf("%s: the app that breaks: %+v, want %q", w, v, want)
		}
	}
}

// TestJudge says what differs, but for what varies anyway.
func TestJudge(t *testing.T) {
	plain := seen{Text: "a page with a clock", Sockets: 1, Storage: "kept", Controls: []control{{"a", "changed"}, {"b", "changed"}}, Errors: []string{"its own"}}
	twice := plain
	twice.Controls = []control{{"a", "changed"}, {"b", "nothing"}}
	same := plain
	same.Controls = []control{{"a", "changed"}, {"b", "nothing"}}
	if v := compare(plain, twice, same); !v.Works || len(v.Why) > 0 {
		t.Errorf("the same: %+v", v)
	}
	other := seen{Text: "nothing of that", Controls: []control{{"a", "nothing"}}, Errors: []string{"its own", "another"}, Storage: "empty"}
	want := []string{
		`it shows "nothing of that" instead of "a page with a clock"`, `control "a": nothing, directly changed`,
		"error: another", "0 WebSockets, directly 1", "localStorage after a reload: empty, directly kept",
	}
	if v := compare(plain, twice, other); v.Opens || v.Works || !slices.Equal(v.Why, want) {
		t.Errorf("another: %+v", v)
	}
	r := &result{Seen: map[way]seen{direct: plain, again: twice, inPage: other, near: same, relayed: same}}
	r.judge(known{"WebSockets", "no wires"}, known{"another", "not ours"})
	if v := r.Verdicts[inPage]; !slices.Equal(v.Known, []string{"no wires", "not ours"}) || len(v.Why) != len(want)-2 || v.Works {
		t.Errorf("with known differences: %+v", v)
	}
	broken := seen{Failed: "the app did not answer"}
	r.Seen[near], r.Seen[relayed] = seen{Text: "another text of it", Controls: same.Controls, Sockets: 1, Storage: "kept"}, broken
	r.judge(known{"it shows", "its text varies"}, known{"did not answer", "not now"})
	if v := r.Verdicts[near]; !v.Opens || !v.Works || !slices.Equal(v.Known, []string{"its text varies"}) {
		t.Errorf("another text that is known: %+v", v)
	}
	if v := r.Verdicts[relayed]; v.Opens || v.Works {
		t.Errorf("a failure that is known: %+v", v)
	}
}
