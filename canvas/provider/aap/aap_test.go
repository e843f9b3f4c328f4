package aap_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// The agent of most tests, known by id, name and alias.
const (
	agentID = "7f1c2d3e-0000-4000-8000-000000000001"
	dir     = "agents/" + agentID + "/canvas/"
)

const registry = `[{"id":"` + agentID + `","name":"backend-auth","alias":"auth","hostId":"other"}]`

// env is a store in a new folder.
type env struct {
	*aap.Store
	t    testing.TB
	root string
}

// open returns a store whose root has the registry.
func open(t testing.TB, change ...func(*aap.Options)) *env {
	t.Helper()
	e := &env{t: t, root: filepath.Join(t.TempDir(), "agents")}
	e.write("registry.json", registry)
	o := aap.Options{Root: e.root}
	for _, fn := range change {
		fn(&o)
	}
	if o.Logger == nil {
		o.Logger = e.watchLog()
	}
	s, err := aap.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	e.Store = s
	return e
}

// record is a log that several goroutines write.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

// watchLog returns a logger. When the test has ended, its log must have no summary, path or
// name of a page.
func (e *env) watchLog() *slog.Logger {
	r := &record{}
	e.t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, secret := range []string{e.root, "[CANVAS]", "User click", "User submit", ".html"} {
			if log := r.text.String(); strings.Contains(log, secret) {
				e.t.Errorf("%q is in the log:\n%.4000s", secret, log)
			}
		}
	})
	return slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// canvas returns a path in the agent's canvas folder.
func (e *env) canvas(name string) string { return filepath.Join(e.root, agentID, "canvas", name) }

// page writes a file into the agent's canvas folder, as an agent does.
func (e *env) page(name, content string) {
	e.t.Helper()
	e.write(filepath.Join(agentID, "canvas", name), content)
}

func (e *env) write(name, content string) {
	e.t.Helper()
	path := filepath.Join(e.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) submit(in aap.Interaction) aap.Record {
	e.t.Helper()
	rec, err := e.Submit(e.t.Context(), agentID, in)
	if err != nil {
		e.t.Fatal(err)
	}
	return rec
}

// click is an interaction of page p.html.
func click(element string) aap.Interaction {
	return aap.Interaction{Action: "click", Element: element, CanvasFile: "p.html"}
}

// records returns the names in the folder of interactions.
func (e *env) records() (names []string) {
	e.t.Helper()
	entries, err := os.ReadDir(e.canvas("interactions"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		e.t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func (e *env) file(name string) string {
	e.t.Helper()
	b, err := os.ReadFile(e.canvas("interactions/" + name))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(b)
}

// code returns the code and field of an error.
func code(err error) string {
	if e, ok := errors.AsType[*aap.Error](err); ok {
		return strings.TrimSuffix(e.Code+" "+e.Field, " ")
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// samples are the published samples of AAP.
type samples struct {
	PostMessage []ahp.Value `json:"postMessage"`
	Records     []ahp.Value `json:"records"`
	Filename    struct{ Timestamp, ID, Filename string }
	HTTP        []struct {
		Request struct {
			Method, Path string
			Body         ahp.Value
		}
		Status   int
		Response ahp.Value
	} `json:"http"`
	Spec       []string      `json:"notifications_spec"`
	Skill      []string      `json:"notifications_skill"`
	Vocabulary []string      `json:"vocabulary"`
	Calls      [][]ahp.Value `json:"vocabulary_calls"`
}

// TestPublishedSamples: the specification's message, records and file name, and the
// skill's notifications. The specification prints data in another spelling than its own
// reference and skill do; only that part differs.
func TestPublishedSamples(t *testing.T) {
	var s samples
	readJSON(t, "vectors/spec_samples.json", &s)
	in, ok, err := aap.ParseMessage(s.PostMessage[0])
	if !ok || err != nil || in.Action != "submit" || in.Element != "approve-button" || string(in.Data) != `{"comments":"Looks good","rating":5}` {
		t.Errorf("the message is read as %+v, %v, %v", in, ok, err)
	}
	if got := (aap.Record{Timestamp: s.Filename.Timestamp, ID: s.Filename.ID}).FileName(); got != s.Filename.Filename {
		t.Errorf("the file is named %s, want %s", got, s.Filename.Filename)
	}
	for _, raw := range s.Records {
		var want aap.Record
		if err := ahp.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		_ = want.Data.Compact()
		got := aap.Summary(aap.Interaction{Action: want.Action, Element: want.Element, CanvasFile: want.CanvasFile, Data: want.Data})
		if ours, theirs, _ := strings.Cut(got, "data: "); !strings.HasPrefix(want.Summary, ours+"data: {") || theirs != string(want.Data) {
			t.Errorf("summary %q, the specification has %q", got, want.Summary)
		}
	}
	e := open(t)
	for n, want := range s.Skill {
		// [CANVAS] panel.html: User click 'run-tests' on panel.html with data: {...}
		head, data, _ := strings.Cut(strings.TrimPrefix(want, "[CANVAS] "), " with data: ")
		file, rest, _ := strings.Cut(head, ": User ")
		action, rest, _ := strings.Cut(rest, " '")
		element, _, _ := strings.Cut(rest, "'")
		rec := e.submit(aap.Interaction{Action: action, Element: element, CanvasFile: file, Data: ahp.Value(data)})
		if got := aap.Line(rec); got != want {
			t.Errorf("notification %d is %q, want %q", n, got, want)
		}
	}
	for _, call := range s.Calls {
		raw := ahp.MustMarshal(map[string]ahp.Value{"type": ahp.Value(`"canvas:interaction"`), "action": call[0], "element": call[1], "data": call[2]})
		in, ok, err := aap.ParseMessage(raw)
		if !ok || err != nil || !slices.Contains(s.Vocabulary, in.Action) {
			t.Errorf("%s: %v, %v", raw, ok, err)
		}
		in.CanvasFile = "p.html"
		if rec := e.submit(in); !ahp.Equal(rec.Data, call[2]) {
			t.Errorf("%s was stored with %s", raw, rec.Data)
		}
	}
}
