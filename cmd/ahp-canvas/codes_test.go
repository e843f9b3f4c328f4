package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// TestEachCodeIsExplained compares the codes in the sources with those that the
// documentation explains.
func TestEachCodeIsExplained(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	for _, dir := range []string{"../../canvas", "../../canvas/mcp"} {
		codesOf(t, dir, found)
	}
	err := filepath.WalkDir("internal", func(dir string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			codesOf(t, dir, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for code, where := range found {
		if term.Cause(code) == "" {
			t.Errorf("%s: the documentation does not explain %q", where, code)
		}
	}
	for _, code := range term.Codes() {
		if found[code] == "" {
			t.Errorf("the documentation explains %q, which no source has", code)
		}
		if remedy := term.Remedy(code); remedy == "" || strings.Contains(remedy, "{") {
			t.Errorf("the documentation says %q about what to do after %q", remedy, code)
		}
	}
	if len(found) < 35 {
		t.Errorf("found %d codes", len(found))
	}
}

// codesOf finds the codes of failures in a folder: constants whose names begin with Code,
// what term.Failf is called with, and the values of composite literals named code.
func codesOf(t *testing.T, dir string, found map[string]string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			for _, code := range codesIn(n) {
				found[code] = name
			}
			return true
		})
	}
}

var codeText = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

func codesIn(n ast.Node) (codes []string) {
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, _ := strconv.Unquote(lit.Value); codeText.MatchString(text) {
				codes = append(codes, text)
			}
		}
	}
	switch n := n.(type) {
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if i < len(n.Values) && strings.HasPrefix(strings.ToLower(name.Name), "code") {
				add(n.Values[i])
			}
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Failf" {
			add(n.Args[0])
		}
	case *ast.CompositeLit: // {channels.ErrStoreNewer, "state_newer"}
		if len(n.Elts) == 2 {
			if first, ok := n.Elts[0].(*ast.SelectorExpr); ok && strings.HasPrefix(first.Sel.Name, "Err") {
				add(n.Elts[1])
			}
		}
	}
	return codes
}

var inlineFlag = regexp.MustCompile("`(?:[a-z -]*)(--[a-z][a-z0-9-]*)")

// TestDocsFlags checks that each flag that a topic names in its text exists.
func TestDocsFlags(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	visit(newRoot(testEnv(nil, nil)), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	})
	pages, err := filepath.Glob("internal/docs/pages/*.md")
	if err != nil || len(pages) < 6 {
		t.Fatal(pages, err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inlineFlag.FindAllStringSubmatch(string(text), -1) {
			if found++; !known[m[1]] {
				t.Errorf("%s: no command has the flag %s", filepath.Base(page), m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d flags", found)
	}
}

// visit calls fn for a command and those below it.
func visit(c *cobra.Command, fn func(*cobra.Command)) {
	fn(c)
	for _, sub := range c.Commands() {
		visit(sub, fn)
	}
}
