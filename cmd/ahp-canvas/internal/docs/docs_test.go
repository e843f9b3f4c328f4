package docs

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term/termtest"
)

// program is a command line with docs in it.
func program(env *term.Env) *cobra.Command {
	root := &cobra.Command{Use: "ahp-canvas", Short: "Canvases"}
	ring := &cobra.Command{Use: "ring [BELL]", Short: "Ring a bell", Long: ".so \\fBnot a request\n'nor this …", Run: func(*cobra.Command, []string) {}}
	ring.Flags().StringP("tone", "t", "low", "`height` of *the* tone")
	root.AddCommand(Command(env, Tables{
		Errors:  []Error{{"bell_broken", "It fell.", "Repair it: {candidates}."}, {"bell_lost", "It is gone.", "Find it."}},
		Metrics: []Metric{{"bells_total", "counter", "Bells."}},
		Protocol: Protocol{
			Methods:  []Method{{"ring", "client to host", []string{"bell", "tone?"}}},
			Channels: []Channel{{"bell", "x-bell", []string{"tone"}, []Method{{"bell/rung", "host", nil}}}},
			Codes:    []Method{{Name: "-1 NoBell"}},
		},
	}), ring)
	return root
}

func TestDocs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"docs", term.ExitDone, "start         Start in five minutes\ncanvases "},
		{"docs start", term.ExitDone, "    ahp-canvas serve\n"},
		{"docs start", term.ExitDone, "(ahp-canvas docs canvases)"},
		{"docs commands", term.ExitDone, "- -t, --tone height: height of *the* tone (default low)\n"},
		{"docs errors", term.ExitDone, "- bell_lost: It is gone. Find it.\n"},
		{"docs metrics", term.ExitDone, "- bells_total (counter): Bells.\n"},
		{"docs protocol", term.ExitDone, "- ring (client to host): bell, tone?\n\nChannels x-bell:\n\nThe state of a bell: tone.\n\n- bell/rung (host)\n\nError codes\n\n- -1 NoBell\n"},
		{"docs strat", term.ExitUsage, `there is no topic "strat"; "ahp-canvas docs" lists them`},
		{"docs export", term.ExitUsage, "export needs FOLDER"},
	} {
		status, out, errs := termtest.Run(t, program, strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(out+errs, c.want) || strings.ContainsAny(out, "\x1b\x02\x03") {
			t.Errorf("%s: %d, want %q in\n%s%s", c.args, status, c.want, out, errs)
		}
	}
}

var href = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// TestExport: the pages are complete, and each link leads to a page and a heading.
func TestExport(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "site")
	if status, _, errs := termtest.Run(t, program, "docs", "export", dir); status != term.ExitDone {
		t.Fatal(errs)
	}
	text := map[string]string{}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text[f.Name()] = string(data)
	}
	if len(text) != len(order)+1 || text["index.html"] != text["start.html"] {
		t.Errorf("%d pages", len(text))
	}
	for name, data := range text {
		for _, m := range href.FindAllStringSubmatch(data, -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			file = cmp.Or(file, name)
			if text[file] == "" || anchor != "" && !strings.Contains(text[file], `id="`+anchor+`"`) {
				t.Errorf("%s: the link to %q leads nowhere", name, m[1])
			}
		}
		if strings.Contains(data, "<script") || strings.Contains(data, "raw HTML omitted") {
			t.Errorf("%s has a script or HTML in its Markdown", name)
		}
	}
}

// TestPicture: the floors are boxes on a page, and the headings of a page are in the list.
func TestPicture(t *testing.T) {
	t.Parallel()
	b := book{newTopic("a", "# A\n\n## B `c` & *d*\n\n```floors\nx/y  on <top>\n---\nz    below\nw    beside\n```\n")}
	page, err := b.html(b[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<li><dl>\n<dt><code>x/y</code></dt><dd>on &lt;top&gt;</dd>\n</dl></li>\n<li><dl>\n<dt><code>z</code></dt><dd>below</dd>\n<dt><code>w</code></dt><dd>beside</dd>\n</dl></li>\n</ol>",
		`<li><a href="#b-c--d">B c &amp; d</a>`,
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("want %q in\n%s", want, page)
		}
	}
}

// TestMan: a text cannot become a request of the formatter.
func TestMan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if status, _, errs := termtest.Run(t, program, "docs", "man", dir); status != term.ExitDone {
		t.Fatal(errs)
	}
	page, err := os.ReadFile(filepath.Join(dir, "ahp-canvas-ring.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n\\&.so \\efBnot a request\n\\&'nor this \\[u2026]\n", ".B \\-t, \\-\\-tone height\nheight of *the* tone", ".SH SEE ALSO\n.BR ahp\\-canvas (1)\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("want %q in\n%s", want, page)
		}
	}
	for _, name := range []string{"ahp-canvas.1", "ahp-canvas-docs.1", "ahp-canvas-docs-man.1"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	all, err := newBook(program(&term.Env{}), Tables{}).files()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/": 200, "/operate.html": 200, "/../doc.go": 404, "/x": 404} {
		w := httptest.NewRecorder()
		pageHandler(all).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		body, _ := io.ReadAll(w.Body)
		if w.Code != want || want == 200 && !strings.Contains(string(body), "<main>") {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// TestTerminal lays out every kind of block that the topics have.
func TestTerminal(t *testing.T) {
	t.Parallel()
	got := terminalText("# A\n\nOne\\* `t\\*o` **three**\nfour [five](topic:start#x) [six](https://six.example) <b>.\n\n- a b c d e f g h\n- `i`:\n\n  ```\n  code\n  ```\n\n```sh\nx  y\n```\n\n---\n", 24, term.Style{})
	want := "A\n\nOne* t\\*o three four\nfive (ahp-canvas docs\nstart) six\n(https://six.example) .\n\n- a b c d e f g h\n- i:\n      code\n\n    x  y\n\n--------\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
