package web_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

var update = flag.Bool("update", false, "write the built file")

// TestBuilt: built/page.js is the page's modules in one file. With -update, which
// "go generate" sets, the test writes it.
func TestBuilt(t *testing.T) {
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{"page/app.js"}, Bundle: true, Format: api.FormatESModule, Target: api.ESNext, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true, LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelSilent,
	})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors[0].Text)
	}
	const file = "built/page.js"
	want := r.OutputFiles[0].Contents
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not up to date (%v); run go generate ./canvas/web", file, err)
	}
}
