package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// found returns Lint's findings, each as "file:line severity text".
func found(t *testing.T, files map[string]string) []string {
	t.Helper()
	all, err := Lint(write(t, files))
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, f := range all {
		if f.Fix == "" || !strings.HasSuffix(f.Fix, ".") {
			t.Errorf("%s: the fix is not a sentence: %q", f.Text, f.Fix)
		}
		lines = append(lines, fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.Severity, f.Text))
	}
	return lines
}

func TestLintManifest(t *testing.T) {
	const head = "{\n" + minimal + ",\n"
	for _, c := range []struct{ name, text, want string }{
		{"clean", "{" + minimal + "}", ""},
		{"syntax", head + "\n\"title\": oops}", "canvas.json:4 error it is not JSON: invalid"},
		{"cut off", head, "canvas.json:3 error it is not JSON: unexpected EOF"},
		{"no description", "{\n\"id\":\"x\",\n\"displayName\":\"X\"}", "canvas.json:1 error /description: required"},
		{"twice", head + "\"id\":\"y\"}", "canvas.json:3 error it is not JSON: duplicate"},
		{"unknown", head + "\"title\":\"T\",\n\"colour\":\"red\"}", "canvas.json:4 error /colour: is an unknown member"},
		{"type", head + "\"actions\":\n[{\"name\":\"a\"},\n{\"name\":3}]}", "canvas.json:5 error /actions/1/name: want"},
		{"id", "{\"displayName\":\"X\",\"description\":\"\",\n\"id\":\"a b\"}", "canvas.json:2 error /id: want 1 to 128"},
		{"title", head + "\"title\":\"a\\nb\"}", "canvas.json:3 error /title: want at most 512"},
		{"entry above", head + "\"entry\":\"../x.html\"}", "canvas.json:3 error /entry: "},
		{"entry hidden", head + "\"entry\":\".x/a.html\"}", "canvas.json:3 error /entry: a name in the path begins with a dot"},
		{"entry missing", head + "\"entry\":\"app/\"}", "canvas.json:3 error the first page, app/index.html, does not exist"},
		{"reserved", head + "\"actions\":[\n{\"name\":\"canvas.close\"}]}", "canvas.json:4 error /actions/0: action \"canvas.close\": names that begin"},
		{"action schema", head + "\"actions\":[{\"name\":\"a\"},\n{\"name\":\"b\",\"inputSchema\":{\"type\":5}}]}", "canvas.json:4 error /actions/1: action \"b\": its input schema"},
		{"input schema", head + "\n\"inputSchema\":[]}", "canvas.json:4 error /inputSchema: its input schema is not a JSON object"},
		{"same name", head + "\"actions\":[{\"name\":\"a\"},{\"name\":\"a\"}]}", "canvas.json:3 error /actions: action \"a\": want"},
		{"too many", head + "\"actions\":[" + strings.Repeat("{\"name\":\"a\"},", 64) + "{\"name\":\"b\"}]}", "canvas.json:3 error /actions: it declares 65"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := found(t, map[string]string{"canvas.json": c.text, "index.html": `<script>onAction(name, f)</script>`})
			var errs []string
			for _, line := range got {
				if strings.Contains(line, " error ") {
					errs = append(errs, line)
				}
			}
			if c.want == "" && len(errs) == 0 {
				return
			}
			if len(errs) != 1 || c.want == "" || !strings.HasPrefix(errs[0], c.want) {
				t.Errorf("found %q, want %q", errs, c.want)
			}
		})
	}
	if got := found(t, map[string]string{"readme.txt": "x"}); len(got) != 1 || !strings.HasPrefix(got[0], ".:0 error the folder has neither") {
		t.Errorf("no canvas at all: %q", got)
	}
	if _, err := Lint(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing folder was checked")
	}
}

func TestLintReferences(t *testing.T) {
	got := found(t, map[string]string{
		"index.html": `<!doctype html>
<!-- <script src="https://example.com/commented.js"></script> -->
<link rel="canonical" href="https://example.com/">
<link rel="stylesheet" href="https://example.com/a.css">
<script
  src="//example.com/b.js"></script>
<img src="/home/me/c.png"><img src="C:\d.png"><img src='file:///e.png'>
<img src="here.png?x=1#y"><img src=missing.png><img src="data:image/png;base64,">
<img src=".hidden/f.png"><img src="canvas.json"><iframe src="sub"></iframe><iframe src="sub/"></iframe>
<a href="https://example.com/docs">docs</a> <a href="#top">top</a> <a href="gone.html">gone</a>
<script>
  const s = '<img src="no-tag.png">';
  fetch("https://example.com/data");
</script>
<style>body { background: url(https://example.com/g.png) }</style>`,
		"here.png": "x", "sub/index.html": `<img src="../here.png"><img src="../../here.png"><img src="/here.png"><img src="a%20b.png">`, "sub/a b.png": "x",
		"style.css": "/* url(https://example.com/no) */\n@import \"missing.css\";\n.a { background: url(here.png) }\n.b { background: url('nope.png') }",
		"app.js": `import { onAction } from "/.ahp/canvas.js";
import x from "./lib/x.js";
import "./lib/none.js";
  export { y } from 'https://example.com/y.js';
import react from "react";
// import "./lib/comment.js";
const z = await import("./lib/late.js"); new WebSocket("wss://example.com/z");
const local = fetch("data.json");`,
		"lib/x.js": "export default 1;\nimport \"lodash\";", "unused.js": "import \"lodash\";", ".git/x.html": `<img src="unseen.png">`, "node_modules/p/x.js": `import "./unseen.js";`,
		"canvas.json": "{" + minimal + "}",
	})
	want := []string{
		"app.js:3 error lib/none.js does not exist",
		"app.js:4 error it loads from another server, which a canvas cannot do: https://example.com/y.js",
		"app.js:5 warning it imports the package react, which browsers cannot find",
		"app.js:7 error lib/late.js does not exist",
		"app.js:7 warning WebSocket connects to another server, which a canvas cannot do: wss://example.com/z",
		"index.html:4 error it loads from another server, which a canvas cannot do: https://example.com/a.css",
		"index.html:6 error it loads from another server, which a canvas cannot do: //example.com/b.js",
		"index.html:7 error it refers to a path of this machine: /home/me/c.png",
		`index.html:7 error it refers to a path of this machine: C:\d.png`,
		"index.html:7 error it refers to a path of this machine: file:///e.png",
		"index.html:8 error missing.png does not exist",
		"index.html:9 error .hidden/f.png is not served, because a name in its path begins with a dot",
		"index.html:9 error canvas.json is not served to pages",
		"index.html:9 error sub is a folder, which is served only with a slash at the end",
		"index.html:10 error gone.html does not exist",
		"index.html:10 warning a canvas cannot navigate to another server: https://example.com/docs",
		"index.html:13 warning fetch connects to another server, which a canvas cannot do: https://example.com/data",
		"index.html:15 error it loads from another server, which a canvas cannot do: https://example.com/g.png",
		"lib/x.js:2 error it imports the package lodash, which browsers cannot find",
		"style.css:2 error missing.css does not exist",
		"style.css:4 error nope.png does not exist",
		"unused.js:1 warning it imports the package lodash, which browsers cannot find",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := found(t, map[string]string{"index.html": `<script type="importmap">{"imports":{"react":"./r.js"}}</script>`, "a.js": `import "react";`}); len(got) != 0 {
		t.Errorf("a mapped package: %q", got)
	}
}

func TestLintActions(t *testing.T) {
	const declared = "{" + minimal + ",\n\"actions\":[\n{\"name\":\"go\"},\n{\"name\":\"stop\"}]}"
	for _, c := range []struct {
		script string
		want   []string
	}{
		{"onAction('go', f);\nonAction ( \"stop\" , f)", nil},
		{"canvas.onAction(`go`, f);\n// onAction('stop', f)", []string{`canvas.json:4 error action "stop" is declared, but no script handles it`}},
		{"onAction('go', f); onAction('stop', f);\nonAction('more', f)", []string{`main.js:2 warning action "more" is handled but not declared, so no agent can invoke it`}},
		{"onAction('go', f); onAction(name, f)", []string{`canvas.json:4 warning no script seems to handle action "stop", but the names of some handlers cannot be determined`}},
		{"onAction('go', f); import {onAction as q} from \"/.ahp/canvas.js\"", []string{`canvas.json:4 warning no script seems to handle action "stop", but the names of some handlers cannot be determined`}},
		{"onAction('go', f); function onAction(name) {}", []string{`canvas.json:4 error action "stop" is declared, but no script handles it`}},
	} {
		got := found(t, map[string]string{"canvas.json": declared, "index.html": "<p>", "main.js": c.script})
		if diff := cmp.Diff(append([]string{}, c.want...), got); diff != "" {
			t.Errorf("%s: %s", c.script, diff)
		}
	}
	if got := found(t, map[string]string{"index.html": "<p>\n<script>\n\nonAction('x', f)</script>"}); len(got) != 1 || !strings.HasPrefix(got[0], "index.html:4 warning") {
		t.Errorf("a handler in a page: %q", got)
	}
}

func TestLintFiles(t *testing.T) {
	dir := write(t, map[string]string{"index.html": `<video src="big.mp4">`, "big.mp4": ""})
	if err := os.Truncate(filepath.Join(dir, "big.mp4"), maxServed+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "out.txt")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	all, err := Lint(dir)
	if err != nil || len(all) != 3 || all[0].File != "big.mp4" || all[0].Severity != SeverityWarning || all[1].File != "index.html" || all[1].Severity != SeverityError || all[2].File != "out.txt" {
		t.Errorf("%+v, %v", all, err)
	}
}

// FuzzLint: the lines of findings exist in the files, whatever they contain.
func FuzzLint(f *testing.F) {
	f.Add(`{"id":1`, `<img src="x"><script>onAction("a")</script><style>@import "x"</style>`, `import "./a"; fetch("//x")`)
	f.Fuzz(func(t *testing.T, manifest, page, script string) {
		files := map[string]string{"canvas.json": manifest, "index.html": page, "a.js": script}
		all, err := Lint(write(t, files))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			if one.Line < 0 || one.Line > 1+strings.Count(files[one.File], "\n") {
				t.Fatalf("%+v", one)
			}
		}
	})
}
