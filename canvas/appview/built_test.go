package appview_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

var update = flag.Bool("update", false, "write the built files")

// builds are the files of built, and what each is built from.
var builds = map[string]api.BuildOptions{
	"shell.js":  {EntryPoints: []string{"shell/shell.js"}, Format: api.FormatIIFE},
	"shell.css": {EntryPoints: []string{"shell/shell.css"}},
	"first.js":  {Stdin: &api.StdinOptions{Contents: firstScript, Loader: api.LoaderJS, ResolveDir: "shell"}, Format: api.FormatIIFE},
}

// firstScript is the first script of each document of a canvas. Its height.js reports the
// document's height to the shell.
const firstScript = `import "./height.js";
import { prepareDocument } from "classic:../../web/page/singleshim.js";
prepareDocument({ theme: "{ahp-theme}", modules: {}, scheme: "", title: document.title });`

// classic lets a module import the function of a classic script, which exports nothing.
var classic = api.Plugin{Name: "classic", Setup: func(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: "^classic:"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: "../web/page/singleshim.js", Namespace: "classic"}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "classic"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		text, err := os.ReadFile(a.Path)
		script := string(text) + "\nexport { prepareDocument };"
		return api.OnLoadResult{Contents: &script, Loader: api.LoaderJS}, err
	})
}}

// TestBuilt: the built files are the shell's modules and its style. With -update, which
// "go generate" sets, the test writes them.
func TestBuilt(t *testing.T) {
	for name, o := range builds {
		o.Bundle, o.Target, o.Charset, o.LegalComments, o.LogLevel = true, api.ES2022, api.CharsetUTF8, api.LegalCommentsNone, api.LogLevelSilent
		o.MinifyWhitespace, o.MinifySyntax, o.MinifyIdentifiers, o.Plugins = true, true, true, []api.Plugin{classic}
		r := api.Build(o)
		if len(r.Errors) > 0 {
			t.Fatalf("%s: %s", name, r.Errors[0].Text)
		}
		want := r.OutputFiles[0].Contents
		if *update {
			if err := os.WriteFile("built/"+name, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile("built/" + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("built/%s is not up to date (%v); run go generate ./canvas/appview", name, err)
		}
	}
}
