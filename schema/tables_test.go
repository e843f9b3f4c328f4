package schema_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// TestTablesAreComplete checks that every declared method is in its package's
// table, and every action table in a channel kind: otherwise the generator
// would miss it.
func TestTablesAreComplete(t *testing.T) {
	declared := 0
	for _, dir := range []string{"../ahp", "../session", "../canvas"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					declared += declares(t, name, call)
				}
				return true
			})
		}
	}
	if declared != len(methods)+len(canvas.ChannelKinds) {
		t.Errorf("%d methods and action tables are declared, %d and %d are in tables", declared, len(methods), len(canvas.ChannelKinds))
	}
}

var constructor = regexp.MustCompile(`^(New(Connection)?Method|NewNotification|NewActionTable)$`)

// declares counts calls that make a method or an action table.
func declares(t *testing.T, file string, call *ast.CallExpr) int {
	t.Helper()
	fun := call.Fun
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	name := ""
	switch f := fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if !constructor.MatchString(name) {
		return 0
	}
	if name == "NewActionTable" {
		return 1
	}
	wire := strings.Trim(call.Args[0].(*ast.BasicLit).Value, `"`)
	if !slices.ContainsFunc(methods, func(m ahp.MethodRow) bool { return m.Name == wire }) {
		t.Errorf("%s: method %s is not in its package's table Methods", file, wire)
	}
	return 1
}
