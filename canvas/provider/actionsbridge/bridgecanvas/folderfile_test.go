package bridgecanvas_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge/bridgecanvas"
)

// tool is a tool of a manifest, with these further members.
func oneTool(members string) string {
	return `"tools":[{"name":"a.b","x_actions":{"handler":"f"}` + members + `}]`
}

// TestFolderStart: a folder that cannot be offered is refused at the start, with file, line,
// place and rule, and lint finds the same (rule 28).
func TestFolderStart(t *testing.T) {
	var tools []string
	for n := range 65 {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","x_actions":{"handler":"f"}}`, n))
	}
	for _, c := range []struct{ manifest, want string }{
		{`{`, "actions.json:1: /: the file is not JSON"},
		{"{\"protocol\":\"actions.json\",\n\"version\":2,\"tools\":[]}", "actions.json:2: /version: version is 1"},
		{actions("\n" + oneTool(`,"input_schema":[]`)), "actions.json:2: /tools/0/input_schema: "},
		{actions(`"tools":[` + strings.Join(tools, ",") + `]`), "at most 64"},
		{actions(oneTool(`,"input_schema":{"type":"object","$ref":"https://example.com/schema"}`)), "/tools/0: its input_schema cannot be enforced"},
		{actions(oneTool(`,"input_schema":{"description":"` + strings.Repeat("x", 65<<10) + `"}`)), "/tools/0: its input_schema cannot be enforced"},
		{actions(`"imports":[{"id":"i","uri":"https://example.com/actions.json"}],"tools":[]`), "/imports/0/uri: "},
		{actions(`"imports":[{"id":"i","uri":"../actions.json"}],"tools":[]`), "/imports/0/uri: "},
		{actions(`"imports":[{"id":"i","uri":"none.json"}],"tools":[]`), `/imports/0/uri: "none.json" is not a file of this folder`},
		{actions(`"prompt":{"source":{"files":["/etc/passwd"]}},"tools":[]`), "/prompt/source/files/0: "},
		{actions(`"tools":[{"name":"a.b","x_actions":{"handler":"f","source":{"files":["index.html","a/../../b.js"]}}}]`), "/tools/0/x_actions/source/files/1: "},
		{actions(`"tools":[{"name":"a.b","x_actions":{"handler":"f","source":{"files":["C:\\x.js"]}}}]`), "/tools/0/x_actions/source/files/0: "},
		{actions(`"tools":[{"name":"a.b","x_actions":{"handler":"f","source":{"files":["gone.js"]}}}]`), `"gone.js" is not a file of this folder`},
		{actions(`"tools":[{"name":"a.b","x_actions":{"handler":"f","source":{"files":["out.js"]}}}]`), `"out.js" is not a file inside this folder`},
		{actions(`"tools":[{"name":"a.b","x_actions":{"handler":"f","timeout_ms":600001}}]`), "/tools/0/x_actions/timeout_ms: timeout_ms is a whole number from 1 to 600000"},
		{actions(`"tools":[{"name":"a.b","x_actions":{"handler":"f","timeout_ms":0}}]`), "/tools/0/x_actions/timeout_ms: timeout_ms is a whole number"},
		{actions(`"tools":[{"name":"a.b","x_actions":{"handler":"f","timeout_ms":1.5}}]`), "/tools/0/x_actions/timeout_ms: timeout_ms is a whole number"},
		{actions(`"tools":[{"name":"a.b","x_actions":{"handler":"f","timeout_ms":"2000"}}]`), "/tools/0/x_actions/timeout_ms: timeout_ms is a whole number"},
		{actions(`"imports":[{"id":"i","uri":"."}],"tools":[]`), `"." is not a file of this folder`},
		{actions(`"a/b~c":[{"source":{"files":["gone.js"]}}],"tools":[]`), `/a~1b~0c/0/source/files/0: "gone.js" is not a file`},
		{actions(`"tools":[{"name":"a.b","x_actions":{"handler":"__proto__.x"}}]`), "/tools/0/x_actions/handler: "},
		{actions(`"tools":[],"states":[{"name":"s","description":"` + strings.Repeat("x", 57<<10) + `"}]`), "at most 57344 are allowed"},
	} {
		dir := write(t, map[string]string{"index.html": "<p>", "actions.json": c.manifest})
		if err := os.Symlink("/etc/hostname", filepath.Join(dir, "out.js")); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
		f, err := bridgecanvas.OpenFolder(dir, bridgecanvas.FolderOptions{})
		if err == nil {
			_ = f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%.200s: %v, want %s", c.manifest, err, c.want)
		}
		found, err := bridgecanvas.LintFolder(dir)
		var text strings.Builder
		for _, one := range found {
			text.WriteString(fmt.Sprintf("%s:%d: %s\n", one.File, one.Line, one.Text))
		}
		if err != nil || !strings.Contains(text.String(), c.want) {
			t.Errorf("%.200s: lint found\n%s, %v; want %s", c.manifest, text.String(), err, c.want)
		}
	}
}

// TestFolderFiles: what a folder must and must not have beside actions.json.
func TestFolderFiles(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"remove one of them":  {"index.html": "", "actions.json": actions(`"tools":[]`), "canvas.json": `{"id":"x","displayName":"X","description":"x"}`},
		"it has no":           {"index.html": ""},
		"no such file":        nil,
		"neither canvas.json": {"actions.json": actions(`"tools":[]`)},
	} {
		dir := filepath.Join(t.TempDir(), "none")
		if files != nil {
			dir = write(t, files)
		}
		if f, err := bridgecanvas.OpenFolder(dir, bridgecanvas.FolderOptions{}); err == nil {
			_ = f.Close()
			t.Errorf("%s: it opened", want)
		} else if want = strings.Replace(want, "neither", "has neither", 1); !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if found, err := bridgecanvas.LintFolder(dir); err == nil && len(found) == 0 && files["actions.json"] != "" {
			t.Errorf("%s: lint found nothing", want)
		}
	}
}

// TestFolderNames: the canvas is named after the surface, or else after the folder.
func TestFolderNames(t *testing.T) {
	for manifest, want := range map[string]string{
		actions(`"tools":[]`):                                "small Small",
		`{"protocol":"actions.json","version":1,"tools":[]}`: "contact contact",
		`{"protocol":"actions.json","version":1,"tools":[],"surface":{"surface_id":"no good","name":"A\nname"}}`:  "contact A name",
		`{"protocol":"actions.json","version":1,"tools":[],"surface":{"surface_id":"x","description":"About x"}}`: "x contact",
	} {
		f, err := bridgecanvas.OpenFolder(write(t, map[string]string{"index.html": "", "actions.json": manifest}), bridgecanvas.FolderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d := f.Declarations()[0]
		if got := d.CanvasID + " " + d.DisplayName; got != want || f.Extension().ID != d.CanvasID {
			t.Errorf("%s: %s, want %s", manifest, got, want)
		}
		if !strings.Contains(d.Description, "not an instruction") || strings.Contains(manifest, "About") && !strings.HasPrefix(d.Description, "About x") {
			t.Errorf("the description is %q", d.Description)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestUpstreamForm: the reference's simple form is a valid folder.
func TestUpstreamForm(t *testing.T) {
	dir := write(t, simpleForm(t))
	if found, err := bridgecanvas.LintFolder(dir); err != nil || len(found) != 0 {
		t.Errorf("lint found %+v, %v", found, err)
	}
	f, err := bridgecanvas.OpenFolder(dir, bridgecanvas.FolderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if a := f.Declarations()[0].Actions; len(a) != 1 || a[0].Name != "contact.submit_name" || !ahp.Equal(a[0].InputSchema, ahp.Value(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`)) {
		t.Errorf("declared are %+v", a)
	}
}

// TestFolderProvider: a folder fulfills the contract of providers.
func TestFolderProvider(t *testing.T) {
	f, err := bridgecanvas.OpenFolder(write(t, small()), bridgecanvas.FolderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	canvastest.TestProvider(t, canvastest.Config{Provider: f, Declaration: f.Declarations()[0], Path: "/"})
}

// TestFolderReferences: a folder can refer to its own files, and to anything where names
// mean something else; a tool can take from a millisecond to ten minutes.
func TestFolderReferences(t *testing.T) {
	manifest := actions(`"imports":[{"id":"i","uri":"./index.html"}],"prompt":{"source":{"files":["index.html"]}},"tools":[
		{"name":"a.b","x_actions":{"handler":"f","timeout_ms":1},"input_schema":{"type":"object","properties":{"source":{"type":"object","default":{"source":{"files":["gone.js"]}}}}}},
		{"name":"a.c","x_actions":{"handler":"f","timeout_ms":600000,"result_schema":{"examples":[{"source":{"files":["gone.js"]}}]}}},
		{"name":"a.d","x_actions":{"handler":"f","timeout_ms":null}}]`)
	dir := write(t, map[string]string{"index.html": "<p>", "actions.json": manifest})
	f, err := bridgecanvas.OpenFolder(dir, bridgecanvas.FolderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if d := f.Declarations()[0].Actions; len(d) != 3 {
		t.Errorf("declared are %+v", d)
	}
}
