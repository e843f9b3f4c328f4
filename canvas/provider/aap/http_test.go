package aap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aap"
)

// server is the HTTP API of an env on a real socket.
type server struct {
	*env
	url string
}

func serve(t testing.TB, e *env) *server {
	srv := httptest.NewServer(aap.NewHandler(e.Store, nil))
	t.Cleanup(srv.Close)
	return &server{e, srv.URL}
}

func (s *server) do(method, path, body string) (status int, answer string, head http.Header) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

const submitPath = "/api/agents/auth/canvas/interactions"

// recording is what the reference provider answered to 35 requests.
type recording struct {
	Submit []struct {
		Name, Agent string
		Body        ahp.Value
		Status      int
		Response    ahp.Value
		Stored      *string
	}
	List []struct {
		Limit         *string
		Note, Agent   string
		Status, Count int
		FirstIsNewest *bool
	}
	Files []struct {
		File   string
		Status int
		Data   struct {
			Content, FileName string
			Error, Message    string
		}
	}
	Notifications [][]any
	ListFiles     []struct {
		Name, Path string
		Size       int
	}
}

// differences from the recording, each with its rule. Every one of them occurs.
var differences = map[string]string{
	"submit traversal canvasFile (ACCEPTED upstream although spec §12 forbids)": "rule 15: the path is refused, 400 invalid_request",
	"submit absolute canvasFile (ACCEPTED upstream)":                            "rule 15: the path is refused, 400 invalid_request",
	"stored bridge sends nulls":                                                 "rule 17: element and data are absent, and not null",
	"summary newline in element":                                                "rule 18: the newline is a space",
	"stored newline in element":                                                 "rule 18: the newline of the summary is a space",
	"list default":                                                              "rule 15: two records fewer, for the two refused paths",
	"list 1000":                                                                 "rule 15: two records fewer, for the two refused paths",
	"list malformed file present":                                               "rule 15: two records fewer, for the two refused paths",
	"list 0":                                                                    "rule 24: 400 invalid_field",
	"list -1":                                                                   "rule 24: 400 invalid_field",
	"list NaN":                                                                  "rule 24: 400 invalid_field",
	"file link.html":                                                            "rule 15: a link is absent, 404",
	"notifications":                                                             "rule 31: the line alone, without echo, quotes and Enter; none for the refused paths",
}

// compare reports a difference, unless it is one that is documented.
type comparison struct {
	t    *testing.T
	seen map[string]bool
}

func (c *comparison) check(name string, got, want any) {
	c.t.Helper()
	switch same := fmt.Sprint(got) == fmt.Sprint(want); {
	case !same && differences[name] == "":
		c.t.Errorf("%s: got %v, the reference has %v", name, got, want)
	case !same:
		c.seen[name] = true
	}
}

// TestRecording replays the reference's requests over HTTP. What differs is in the table
// above, and nothing in the table is the same.
func TestRecording(t *testing.T) {
	var rec recording
	raw, err := os.ReadFile("testdata/recordings/ai_maestro_canvas_service.json")
	if err == nil {
		err = json.Unmarshal(raw, &rec)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, open(t))
	var lines []string
	s.Watch(func(c aap.Change) {
		if c.Kind == aap.RecordStored {
			lines = append(lines, aap.Line(c.Record))
		}
	})
	c := &comparison{t, map[string]bool{}}
	s.replaySubmits(c, rec)
	s.replayLists(c, rec)
	s.replayFiles(c, rec)
	var want []string
	for _, n := range rec.Notifications {
		want = append(want, fmt.Sprint(n[1:]...))
	}
	c.check("notifications", lines, want)
	for n, line := range lines {
		text, _ := rec.Notifications[n][1].(string)
		text = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(text, "echo '"), "'"), `'\''`, "'")
		if line != strings.ReplaceAll(text, "\n", " ") && n < 10 {
			t.Errorf("notification %q, the reference types %q", line, text)
		}
	}
	for name, why := range differences {
		if !c.seen[name] {
			t.Errorf("%s is the same, so it is no difference (%s)", name, why)
		}
	}
}

var idsAndTimes = regexp.MustCompile(`"(id|timestamp)": ?"[^"]*"`)

func (s *server) replaySubmits(c *comparison, rec recording) {
	for _, r := range rec.Submit {
		before := s.records()
		status, answer, _ := s.do("POST", "/api/agents/"+r.Agent+"/canvas/interactions", string(r.Body))
		c.check("submit "+r.Name, status, r.Status)
		if status != r.Status {
			if len(s.records()) != len(before) || !strings.Contains(answer, `"invalid_request","message":"Invalid file path","field":"canvasFile"`) {
				s.t.Errorf("%s: %s", r.Name, answer)
			}
			continue
		}
		_ = r.Response.Compact()
		c.check("summary "+r.Name, idsAndTimes.ReplaceAllString(answer, ""), idsAndTimes.ReplaceAllString(string(r.Response), ""))
		if r.Stored == nil {
			c.check("files "+r.Name, len(s.records()), len(before))
			continue
		}
		names := s.records()
		c.check("stored "+r.Name, idsAndTimes.ReplaceAllString(s.file(names[len(names)-1]), ""), idsAndTimes.ReplaceAllString(*r.Stored, ""))
	}
}

func (s *server) replayLists(c *comparison, rec recording) {
	names := s.records()
	newest := strings.TrimSuffix(names[len(names)-1], ".json")[len("2026-05-18T15-30-00-000Z-"):]
	for _, l := range rec.List {
		name, path := "list default", submitPath
		switch {
		case l.Agent != "":
			name, path = "list of an unknown agent", "/api/agents/"+l.Agent+"/canvas/interactions"
		case l.Note != "":
			name = "list " + l.Note
			s.page("interactions/9999-bad.json", "{")
		case l.Limit != nil:
			name, path = "list "+*l.Limit, path+"?limit="+url.QueryEscape(*l.Limit)
		}
		status, answer, _ := s.do("GET", path, "")
		if l.Status == 0 {
			l.Status = 200
		}
		c.check(name, status, l.Status)
		if status != 200 {
			continue
		}
		c.check(name, strings.Count(answer, `"canvasFile"`), l.Count)
		if l.FirstIsNewest != nil {
			c.check(name+" order", strings.HasPrefix(answer, `{"interactions":[{"id":"`+newest), *l.FirstIsNewest)
		}
	}
}

func (s *server) replayFiles(c *comparison, rec recording) {
	s.page("reports/dashboard.html", "<!doctype html><html><head></head><body>x</body></html>")
	s.page("old.HTM", "<p>old</p>")
	s.page("note.txt", "")
	s.write("secret.html", "secret")
	if err := os.Symlink(filepath.Join(s.root, "secret.html"), s.canvas("link.html")); err != nil {
		s.t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"reports/dashboard.html": time.Hour, "old.HTM": 0} {
		at := time.Now().Add(-age)
		if err := os.Chtimes(s.canvas(name), at, at); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, f := range rec.Files {
		status, answer, head := s.do("GET", "/api/agents/auth/canvas?file="+url.QueryEscape(f.File), "")
		name := "file " + f.File
		c.check(name, status, f.Status)
		if status == 200 {
			c.check(name+" content", answer+head.Get("X-Canvas-File"), f.Data.Content+f.Data.FileName)
		} else if f.Status == status {
			c.check(name+" error", strings.HasPrefix(answer, fmt.Sprintf(`{"error":%q,"message":%q`, f.Data.Error, f.Data.Message)), true)
		}
	}
	_, answer, _ := s.do("GET", "/api/agents/auth/canvas", "")
	var list struct {
		Protocol string
		Files    []struct {
			Name, Path string
			Size       int
			ModifiedAt time.Time
		}
	}
	if err := json.Unmarshal([]byte(answer), &list); err != nil || list.Protocol != "aap/1.0" {
		s.t.Fatalf("%s: %v", answer, err)
	}
	var got, want []string
	for _, f := range list.Files {
		got = append(got, fmt.Sprint(f.Name, f.Path, f.Size))
	}
	for _, f := range rec.ListFiles {
		want = append(want, fmt.Sprint(f.Name, f.Path, f.Size))
	}
	c.check("list of files", got, want)
}

// TestPublishedRequests: the specification's requests and answers, in its own words.
func TestPublishedRequests(t *testing.T) {
	var all samples
	readJSON(t, "vectors/spec_samples.json", &all)
	s := serve(t, open(t))
	for _, pair := range all.HTTP {
		body, path := string(pair.Request.Body), submitPath
		switch pair.Status {
		case 400:
			body = `{"canvasFile":"p.html"}`
		case 404:
			body, path = `{"action":"a","canvasFile":"p.html"}`, "/api/agents/xyz/canvas/interactions"
		}
		status, answer, _ := s.do("POST", path, body)
		want := struct{ Error, Message, Summary string }{}
		if err := json.Unmarshal(pair.Response, &want); err != nil {
			t.Fatal(err)
		}
		if status != pair.Status || !strings.Contains(answer, want.Error) || !strings.Contains(answer, want.Message) || !strings.Contains(answer, want.Summary) {
			t.Errorf("%s: %d %s, the specification has %s", body, status, answer, pair.Response)
		}
	}
}

// TestBadInput: the answers to what no client should send.
func TestBadInput(t *testing.T) {
	s := serve(t, open(t, func(o *aap.Options) { o.Limits.PageBytes = 100 }))
	s.page("note.txt", "")
	s.page("big.html", strings.Repeat("x", 101))
	for _, c := range []struct {
		method, path, body string
		status             int
		answer             string
	}{
		{"POST", submitPath, `{}`, 400, `{"error":"missing_field","message":"action is required","field":"action"}`},
		{"POST", submitPath, `{"action":""}`, 400, `{"error":"missing_field","message":"action is required","field":"action"}`},
		{"POST", submitPath, `{"action":null,"canvasFile":7}`, 400, `{"error":"missing_field","message":"action is required","field":"action"}`},
		{"POST", submitPath, `{"action":"click"}`, 400, `{"error":"missing_field","message":"canvasFile is required","field":"canvasFile"}`},
		{"POST", submitPath, `{"action":7,"canvasFile":"p.html"}`, 400, `{"error":"invalid_field","message":"action must be a string","field":"action"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"p.html","element":{}}`, 400, `{"error":"invalid_field","message":"element must be a string","field":"element"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"../../x.html"}`, 400, `{"error":"invalid_request","message":"Invalid file path","field":"canvasFile"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"/etc/passwd"}`, 400, `{"error":"invalid_request","message":"Invalid file path","field":"canvasFile"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"a\\b.html"}`, 400, `{"error":"invalid_request","message":"Invalid file path","field":"canvasFile"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"C:x.html"}`, 400, `{"error":"invalid_request","message":"Invalid file path","field":"canvasFile"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"./a.html"}`, 400, `{"error":"invalid_request","message":"Invalid file path","field":"canvasFile"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"a//b.html"}`, 400, `{"error":"invalid_request","message":"Invalid file path","field":"canvasFile"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":".x/a.html"}`, 400, `{"error":"invalid_request","message":"Invalid file path","field":"canvasFile"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"interactions/a.html"}`, 400, `{"error":"invalid_request","message":"Invalid file path","field":"canvasFile"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"a\u0000.html"}`, 400, `{"error":"invalid_request","message":"Invalid file path","field":"canvasFile"}`},
		{"POST", submitPath, `[]`, 400, `{"error":"invalid_request","message":"The body must be a JSON object without duplicate members"}`},
		{"POST", submitPath, ``, 400, `{"error":"invalid_request","message":"The body must be a JSON object without duplicate members"}`},
		{"POST", submitPath, `{"action":"a","action":"b","canvasFile":"p.html"}`, 400, `{"error":"invalid_request","message":"The body must be a JSON object without duplicate members"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"p.html","data":{"a":1,"a":2}}`, 400, `{"error":"invalid_request","message":"The body must be a JSON object without duplicate members"}`},
		{"POST", submitPath, "{\"action\":\"\xff\",\"canvasFile\":\"p.html\"}", 400, `{"error":"invalid_request","message":"The body must be a JSON object without duplicate members"}`},
		{"POST", submitPath, `{"action":"a","canvasFile":"p.html","z":"` + strings.Repeat("x", 70<<10) + `"}`, 413, `{"error":"too_large","message":"The body has more than 65536 bytes"}`},
		{"POST", submitPath, strings.Repeat("[", 60_000), 400, `{"error":"invalid_request","message":"The body must be a JSON object without duplicate members"}`},
		{"POST", "/api/agents/xyz/canvas/interactions", `{}`, 404, `{"error":"not_found","message":"Agent 'xyz' not found"}`},
		{"GET", submitPath + "?limit=0", "", 400, `{"error":"invalid_field","message":"limit must be a number from 1 to 1000","field":"limit"}`},
		{"GET", submitPath + "?limit=-1", "", 400, `{"error":"invalid_field","message":"limit must be a number from 1 to 1000","field":"limit"}`},
		{"GET", submitPath + "?limit=NaN", "", 400, `{"error":"invalid_field","message":"limit must be a number from 1 to 1000","field":"limit"}`},
		{"GET", submitPath + "?limit=1001", "", 400, `{"error":"invalid_field","message":"limit must be a number from 1 to 1000","field":"limit"}`},
		{"GET", submitPath + "?limit=", "", 400, `{"error":"invalid_field","message":"limit must be a number from 1 to 1000","field":"limit"}`},
		{"GET", submitPath + "?limit=1&limit=2", "", 400, `{"error":"invalid_field","message":"limit must be given once","field":"limit"}`},
		{"GET", submitPath + "?limit=1000", "", 200, `{"interactions":[]}`},
		{"GET", submitPath + "?file=../x", "", 400, `{"error":"invalid_request","message":"Invalid file path","field":"file"}`},
		{"GET", "/api/agents/auth/canvas?file=note.txt", "", 400, `{"error":"invalid_request","message":"Only .html and .htm files are supported","field":"file"}`},
		{"GET", "/api/agents/auth/canvas?file=%2e%2e%2fx.html", "", 400, `{"error":"invalid_request","message":"Invalid file path","field":"file"}`},
		{"GET", "/api/agents/auth/canvas?file=gone.html", "", 404, `{"error":"not_found","message":"Canvas file 'gone.html' not found"}`},
		{"GET", "/api/agents/auth/canvas?file=big.html", "", 413, `{"error":"too_large","message":"Canvas file 'big.html' has more than 100 bytes","field":"file"}`},
		{"GET", "/api/agents/..%2fx/canvas", "", 404, `{"error":"not_found","message":"Agent '../x' not found"}`},
		{"GET", "/api/agents/%1b[2J/canvas", "", 404, `{"error":"not_found","message":"Agent ' [2J' not found"}`},
		{"GET", "/api/agents/", "", 404, `{"error":"not_found","message":"Not found"}`},
		{"GET", "/api/agents/auth/canvas/", "", 404, `{"error":"not_found","message":"Not found"}`},
		{"GET", "/api/agents/auth/canvas/interactions/x", "", 404, `{"error":"not_found","message":"Not found"}`},
		{"DELETE", submitPath, "", 405, `{"error":"method_not_allowed","message":"The method is not allowed here"}`},
		{"POST", "/api/agents/auth/canvas", "", 405, `{"error":"method_not_allowed","message":"The method is not allowed here"}`},
	} {
		status, answer, head := s.do(c.method, c.path, c.body)
		if status != c.status || answer != c.answer || head.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %.80s:\ngot  %d %s\nwant %d %s", c.method, c.path, c.body, status, answer, c.status, c.answer)
		}
		if (status == 405) != (head.Get("Allow") != "") {
			t.Errorf("%s %s: Allow %q", c.method, c.path, head.Get("Allow"))
		}
	}
	if len(s.records()) > 0 {
		t.Errorf("stored %q", s.records())
	}
	for body, stored := range map[string]string{`"element":5`: `"element": "5"`, `"data":[1,2]`: "\"data\": [\n    1,\n    2\n  ]", `"data":"hi"`: `"data": "hi"`, `"data":false`: `"data": false`} {
		status, answer, _ := s.do("POST", submitPath, `{"action":"a","canvasFile":"no-such-file","`+body[1:]+`}`)
		names := s.records()
		if status != 201 || !strings.Contains(s.file(names[len(names)-1]), stored) {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	// A token was shown, so no form of another site can forge it: any media type is JSON.
	resp, err := http.Post(s.url+submitPath, "text/plain", strings.NewReader(`{"action":"a","canvasFile":"p.html"}`))
	if err != nil || resp.StatusCode != 201 {
		t.Error(resp, err)
	}
	_ = resp.Body.Close()
	if _, answer, _ := s.do("GET", submitPath+"?before=none", ""); !strings.Contains(answer, `"invalid_field","message":"before must be the id of a record","field":"before"`) {
		t.Errorf("an unknown before: %s", answer)
	}
}

// TestPageHeaders: rule 25: a page is answered raw, and cannot run where it is answered.
func TestPageHeaders(t *testing.T) {
	s := serve(t, open(t))
	s.page("čaj.html", "<head></head>\xff")
	status, answer, head := s.do("GET", "/api/agents/auth/canvas?file="+url.QueryEscape("čaj.html"), "")
	if status != 200 || answer != "<head></head>\xff" {
		t.Errorf("%d %q", status, answer)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff",
		"Cache-Control": "no-store", "X-Canvas-File": url.PathEscape("čaj.html"), "Access-Control-Allow-Origin": "",
	} {
		if got := head.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if status, answer, _ := s.do("GET", "/api/agents/auth/canvas?file=", ""); status != 200 || !strings.HasPrefix(answer, `{"protocol":"aap/1.0","files":[`) {
		t.Errorf("an empty file: %d %s", status, answer)
	}
	if status, answer, _ := s.do("HEAD", submitPath, ""); status != 200 || answer != "" {
		t.Errorf("HEAD: %d %q", status, answer)
	}
}

// TestErrorsOverHTTP: the statuses that need a state of the store.
func TestErrorsOverHTTP(t *testing.T) {
	full := serve(t, open(t, func(o *aap.Options) { o.Limits.Records = 1 }))
	busy := serve(t, open(t, func(o *aap.Options) {
		o.Limits.Burst = 1
		o.Limits.Rate = 1
		now := time.Now()
		o.Now = func() time.Time { return now }
	}))
	broken := serve(t, open(t))
	broken.page("interactions", "")
	body := `{"action":"a","canvasFile":"p.html"}`
	for _, s := range []*server{full, busy} {
		if status, answer, _ := s.do("POST", submitPath, body); status != 201 {
			t.Fatal(answer)
		}
	}
	for _, c := range []struct {
		s      *server
		status int
		code   string
		retry  string
	}{{full, 507, "storage_full", ""}, {busy, 429, "rate_limited", "1"}, {broken, 500, "internal_error", ""}} {
		status, answer, head := c.s.do("POST", submitPath, body)
		if status != c.status || !strings.Contains(answer, c.code) || head.Get("Retry-After") != c.retry {
			t.Errorf("%s: %d %s, Retry-After %q", c.code, status, answer, head.Get("Retry-After"))
		}
		if status == 500 && strings.Contains(answer, c.s.root) {
			t.Errorf("discloses a path: %s", answer)
		}
	}
}

// TestPanic: a panic of the store is an answer, and not a closed connection.
func TestPanic(t *testing.T) {
	broken := true
	e := open(t, func(o *aap.Options) {
		o.NewID = func() string {
			if broken {
				panic("no id")
			}
			return "id"
		}
	})
	w := httptest.NewRecorder()
	aap.NewHandler(e.Store, nil).ServeHTTP(w, httptest.NewRequest("POST", submitPath, strings.NewReader(`{"action":"a","canvasFile":"p.html"}`)))
	if w.Code != 500 || !strings.Contains(w.Body.String(), `"internal_error"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	broken = false
	e.submit(click("the next one is stored"))
}

// TestMaySubmit: the one check of who may act for a person.
func TestMaySubmit(t *testing.T) {
	e := open(t)
	h := aap.NewHandler(e.Store, func(r *http.Request) bool { return r.Header.Get("Role") == "view" })
	for _, c := range []struct {
		method, role string
		status       int
	}{{"POST", "agent", 403}, {"POST", "", 403}, {"POST", "view", 201}, {"GET", "agent", 200}} {
		r := httptest.NewRequest(c.method, submitPath, bytes.NewReader([]byte(`{"action":"a","canvasFile":"p.html"}`)))
		r.Header.Set("Role", c.role)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s as %q: %d %s", c.method, c.role, w.Code, w.Body)
		}
	}
	if len(e.records()) != 1 {
		t.Errorf("stored %q", e.records())
	}
}
