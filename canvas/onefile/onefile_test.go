package onefile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// files are a canvas's files by content path; their types come from their names.
type files map[string]string

func (f files) read(_ context.Context, at string) (canvas.Content, error) {
	p, err := canvas.ParseContentPath(at)
	if err != nil {
		return canvas.Content{}, ahp.ErrNotFound
	}
	text, ok := f[at]
	if !ok {
		return canvas.Content{}, ahp.ErrNotFound
	}
	kind := canvas.ContentType(p)
	if at == "/" {
		kind = "text/html; charset=utf-8"
	}
	return canvas.Content{Data: []byte(text), ContentType: kind}, nil
}

func made(t *testing.T, f files) string {
	t.Helper()
	text, err := Document(t.Context(), f.read, "/", "first()")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// refusedWith checks that a document is refused for a reason.
func refusedWith(t *testing.T, f files, want string) {
	t.Helper()
	text, err := Document(t.Context(), f.read, "/", "")
	if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(e.Reason, want) {
		t.Errorf("%.200q, error %v, want %q", text, err, want)
	}
}

// TestDocument: everything that the document needs is in it, and nothing refers to another
// place.
func TestDocument(t *testing.T) {
	got := made(t, files{
		"/": `<!doctype html><html><head><title>T</title><base href="http://elsewhere.example/">
<meta http-equiv="Content-Security-Policy" content="script-src 'self'"><meta name="viewport" content="width=device-width">
<link rel="preload" href="a.js"><link rel="icon" href="i.png"><link rel="stylesheet" href="css/s.css" media="print">
<style>@import "css/more.css"; i { color: red }</style><script src="plain.js"></script><script defer src="late.js"></script>
<script type="importmap">{"imports": {"lib/": "/vendor/"}}</script>
<script type="module" src="a.js"></script><script type="module">import { b } from "./b.js"; import "lib/x.js"; b("inline");</script></head>
<body><img src="i.png" srcset="i2.png 2x"><img src="absent.png"><iframe src="/other"></iframe><a href="next.html">next</a></body></html>`,
		"/a.js":         `import { b } from "./b.js"; import data from "./d.json" with { type: "json" }; b(data.name, import.meta.url);`,
		"/b.js":         `export const b = (...what) => console.log("of b", ...what);`,
		"/d.json":       `{"name": "of d"}`,
		"/vendor/x.js":  `console.log("of x");`,
		"/plain.js":     `var plain = "</script><!--";`,
		"/late.js":      `late();`,
		"/css/s.css":    `@import url(more.css); b { background: url("../i.png") } u { background: url(absent.png) }`,
		"/css/more.css": `em { color: blue }`,
		"/i.png":        "\x89PNG",
	})
	root, err := html.Parse(strings.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if first := root.LastChild.FirstChild.FirstChild; textOf(first) != "first()" {
		t.Errorf("the first element is %s", first.Data)
	}
	if n := strings.Count(got, `type="module"`); n != 1 {
		t.Errorf("%d module elements, want 1", n)
	}
	if n := strings.Count(got, `"of b"`); n != 1 {
		t.Errorf("the shared module is in the document %d times", n)
	}
	for _, part := range []string{"of d", "of x", "em{color:#00f}", "data:image/png;base64,iVBORw==", `var plain = "\x3c/script>\x3c!--";`, `media="print"`, `name="viewport"`, `href="next.html"`, `http://canvas/`} {
		if !strings.Contains(got, part) {
			t.Errorf("it lacks %s", part)
		}
	}
	for _, part := range []string{"elsewhere.example", "Content-Security-Policy", "preload", "srcset", "/other", "importmap", `"absent.png"`, "src=\"a.js"} {
		if strings.Contains(got, part) {
			t.Errorf("it still has %s", part)
		}
	}
	if strings.Index(got, "late();") < strings.Index(got, "next.html") {
		t.Error("a deferred script runs before the document is complete")
	}
}

// TestHostile: what a document may not have is refused in words, and nothing of this machine
// is read.
func TestHostile(t *testing.T) {
	module := func(code string) files {
		return files{"/": `<script type="module">` + code + `</script>`}
	}
	secret := filepath.Join(t.TempDir(), "secret.js")
	if err := os.WriteFile(secret, []byte("export default 'SECRET'"), 0o600); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{
		`import "/etc/passwd"`:                     `no file "/etc/passwd"`,
		`import "` + secret + `"`:                  "no file",
		`import "file://` + secret + `"`:           "not a file of the canvas",
		`import "../../../../../../../etc/passwd"`: `no file "/etc/passwd"`,
		`import "https://example.com/x.js"`:        "not a file of the canvas",
		`import "data:text/javascript,alert(1)"`:   "not a file of the canvas",
		`import "fs"`:                              "not a file of the canvas",
		`import "./%2e%2e/x.js"`:                   "no file",
		`import "./a b.ts"`:                        "no file",
		`let let = 1`:                              "cannot be linked",
	} {
		refusedWith(t, module(code), want)
	}
	refusedWith(t, files{"/": `<script type="module" src="https://example.com/x.js"></script>`}, "nothing from elsewhere")
	refusedWith(t, files{"/": `<script type="module">import "./style.css"</script>`, "/style.css": "b{}"}, "no JavaScript")
	refusedWith(t, files{"/": `<script type="module">import "./x.ts"</script>`, "/x.ts": "let a: number = 1"}, "no JavaScript")
	if got := made(t, module(`import("https://example.com/x.js").catch(() => {}); import("`+secret+`").catch(() => {})`)); strings.Contains(got, "SECRET") {
		t.Error("a file of this machine is in the document")
	}
	if _, err := Document(t.Context(), files{}.read, "/", ""); !errors.Is(err, ahp.ErrNotFound) {
		t.Errorf("an absent document: %v", err)
	}
	plain := func(context.Context, string) (canvas.Content, error) {
		return canvas.Content{Data: []byte("x"), ContentType: "application/pdf"}, nil
	}
	if _, err := Document(t.Context(), plain, "/", ""); err == nil || err.Error() != "it is not an HTML page" {
		t.Errorf("a PDF: %v", err)
	}
}

// TestLimits: a document beyond a limit ends soon, in words.
func TestLimits(t *testing.T) {
	ring := files{"/": `<script type="module" src="0.js"></script>`}
	for i := range 10_000 {
		ring[fmt.Sprintf("/%d.js", i)] = fmt.Sprintf("import './%d.js'; import './%d.js'", (i+1)%10_000, (i*7+3)%10_000)
	}
	before, reads := memory(), atomic.Int64{}
	_, err := Document(t.Context(), func(ctx context.Context, at string) (canvas.Content, error) {
		reads.Add(1)
		return ring.read(ctx, at)
	}, "/", "")
	if err == nil || !strings.Contains(err.Error(), "256 files") || reads.Load() > MaxFiles {
		t.Errorf("a ring of 10,000 modules: %v after %d reads", err, reads.Load())
	}
	if grown := memory() - before; grown > 512<<20 {
		t.Errorf("it took %d MiB", grown>>20)
	}
	refusedWith(t, files{"/": `<img src="big.png">`, "/big.png": strings.Repeat("x", MaxBytes)}, "more than 4096 KiB")
	refusedWith(t, files{"/": `<img src="big.png">`, "/big.png": strings.Repeat("x", MaxBytes*7/8)}, "a chat takes 4096")

	ctx, cancel := context.WithCancel(t.Context())
	slow := func(_ context.Context, at string) (canvas.Content, error) {
		if at != "/" {
			cancel()
			<-ctx.Done()
		}
		return files{"/": `<script type="module" src="0.js"></script>`, "/0.js": ""}.read(ctx, at)
	}
	if _, err := Document(ctx, slow, "/", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestTime: a reader that never answers ends with the time for linking.
func TestTime(t *testing.T) {
	var limit time.Duration
	never := func(ctx context.Context, _ string) (canvas.Content, error) {
		end, _ := ctx.Deadline()
		limit = time.Until(end)
		return canvas.Content{}, context.Cause(ctx)
	}
	_, _ = Document(t.Context(), never, "/", "")
	if limit <= 0 || limit > MaxTime {
		t.Errorf("a reader has %v", limit)
	}
}

// TestElements: no inlined text ends its element or hides what follows: the written document
// has the elements of the one that was read.
func TestElements(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"</script>", "<!--", "-->", "<script>", "</style>", "</SCRIPT ", "</scr", "ipt>", "]]>", "<b>", "'", "`", "<!-- <script>", "</title>", "&lt;", "\\"}
	for i := range 200 {
		var text strings.Builder
		for range 1 + r.IntN(6) {
			text.WriteString(parts[r.IntN(len(parts))])
		}
		quoted := string(ahp.MustMarshal(text.String()))
		got := made(t, files{
			"/": `<!doctype html><html><head><link rel="stylesheet" href="s.css"><script src="c.js"></script><script type="module" src="m.js"></script></head>` +
				`<body><p id="after">after</p><img alt="` + html.EscapeString(text.String()) + `"></body></html>`,
			"/c.js":  "var c = " + quoted + "; // " + text.String(),
			"/m.js":  "import { t } from './t.js'; console.log(t, " + quoted + ", /[<]!--/, `" + strings.NewReplacer("`", "", "\\", "").Replace(text.String()) + "`)",
			"/t.js":  "/* " + strings.ReplaceAll(text.String(), "*/", "") + " */ export const t = " + quoted,
			"/s.css": `b::before { content: "` + strings.NewReplacer(`"`, "", `\`, "").Replace(text.String()) + `" }`,
		})
		if diff := cmp.Diff([]string{"html", "head", "script", "style", "script", "script", "body", "p", "img"}, elements(t, got)); diff != "" {
			t.Fatalf("%d: %q: %s\n%s", i, text.String(), diff, got)
		}
	}
}

func elements(t *testing.T, doc string) (names []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			names = append(names, n.Data)
		}
	}
	return names
}

// FuzzDocument: whatever the canvas has, a document is made or refused, within its limits and
// with its first script before everything else.
func FuzzDocument(f *testing.F) {
	f.Add(`<script type="module" src="a.js"></script><link rel=stylesheet href=a.css>`, `import "./b.js"`, `@import "b.css"; b{background:url(a.js)}`)
	f.Add(`<svg><script href="a.js"/></svg><template><script src=a.js defer>`, `</script><!--`, `</style`)
	f.Add(`<plaintext><script src=a.js>`, `import("/" + x)`, `url(`)
	f.Add(`<frameset><frame src=a.js>`, `export * from "/a.js"`, `@import "a.css" layer(x);`)
	f.Fuzz(func(t *testing.T, doc, js, css string) {
		all := files{"/": doc, "/a.js": js, "/b.js": js, "/a.css": css, "/b.css": css}
		text, err := Document(t.Context(), all.read, "/", "first()")
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("%v", err)
			}
			return
		}
		if len(text) > MaxBytes {
			t.Errorf("%d bytes", len(text))
		}
		root, err := html.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if first := find(root, atom.Script); first == nil || textOf(first) != "first()" {
			t.Errorf("the first script is not the first: %.300q", text)
		}
	})
}
