package testcases

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// documentedPercent is the share of exported identifiers and fields that need a
// doc comment.
const documentedPercent = 98

// TestDocComments requires doc comments on exported identifiers: constants,
// variables, functions, types, the methods of exported types and interfaces,
// and the fields of exported structs.
func TestDocComments(t *testing.T) {
	if testing.Short() {
		t.Skip("reads sources: a race detector finds nothing here")
	}
	tree, err := readTree("..")
	if err != nil {
		t.Fatal(err)
	}
	var all docCount
	for _, name := range tree.files {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if err := all.file(name, tree.text[name]); err != nil {
			t.Fatal(err)
		}
	}
	if all.total == 0 {
		t.Fatal("no exported identifiers found")
	}
	share := 100 * float64(all.total-len(all.missing)) / float64(all.total)
	t.Logf("%d of %d exported identifiers and fields have a doc comment (%.1f %%)", all.total-len(all.missing), all.total, share)
	if share < documentedPercent {
		t.Errorf("%.1f %% have a doc comment, at least %d %% must; these do not:\n%s",
			share, documentedPercent, strings.Join(all.missing, "\n"))
	}
}

// TestDocCommentForms lists what counts as a doc comment.
func TestDocCommentForms(t *testing.T) {
	for source, missing := range map[string]int{
		"func F() {}":                                                       1,
		"// F does.\nfunc F() {}":                                           0,
		"func f() {}":                                                       0,
		"type T struct{}":                                                   1,
		"// T is.\ntype T struct{ A, B int }":                               2,
		"// T is.\ntype T struct{ A int // is\n }":                          0,
		"// T is.\ntype T struct {\n// A is.\nA int\n}":                     0,
		"// T is.\ntype T struct{ a int }":                                  0,
		"// T is.\ntype T struct{ U }":                                      0,
		"// T is.\ntype T struct{ A struct{ B int } }":                      2,
		"// T is.\ntype T struct {\n// A, B are.\nA int\nB int\n\nC int\n}": 1,
		"type t struct{ A int }":                                            0,
		"// I is.\ntype I interface{ M(); m() }":                            1,
		"// I is.\ntype I interface{ U }":                                   0,
		"const A = 1":                                                       1,
		"// Those are.\nconst (\nA = 1\nB = 2\n)":                           0,
		"const (\n// A is.\nA = 1\nB = 2 // is\nC = 3\n)":                   1,
		"// Those are.\ntype (\nA int\n)":                                   1,
		"type t int; func (t) M() {}":                                       0,
		"// T is.\ntype T int; func (*T) M() {}":                            1,
		"// T is.\ntype T[E any] int; func (*T[E]) M() {}":                  1,
	} {
		var got docCount
		if err := got.file("x.go", "package x\n"+source); err != nil {
			t.Fatal(err)
		}
		if len(got.missing) != missing {
			t.Errorf("%q: missing %v, want %d", source, got.missing, missing)
		}
	}
}

// docCount counts exported identifiers and fields, and lists those without a doc
// comment.
type docCount struct {
	total   int
	missing []string
	fset    *token.FileSet
}

// file counts one Go file.
func (c *docCount) file(name, text string) error {
	c.fset = token.NewFileSet()
	f, err := parser.ParseFile(c.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if owner := receiver(d); owner == "" {
				c.add("", d.Name, d.Doc)
			} else if ast.IsExported(owner) {
				c.add(owner, d.Name, d.Doc)
			}
		case *ast.GenDecl:
			c.declaration(d)
		}
	}
	return nil
}

// add counts one identifier with the comments that can document it.
func (c *docCount) add(owner string, name *ast.Ident, docs ...*ast.CommentGroup) {
	if !name.IsExported() {
		return
	}
	c.total++
	for _, doc := range docs {
		if doc != nil {
			return
		}
	}
	if owner != "" {
		owner += "."
	}
	at := c.fset.Position(name.Pos())
	c.missing = append(c.missing, fmt.Sprintf("%s:%d: %s%s", at.Filename, at.Line, owner, name.Name))
}

// declaration counts a declaration of constants, variables or types. The comment
// of a group documents its constants and variables, but not its types.
func (c *docCount) declaration(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range s.Names {
				c.add("", name, d.Doc, s.Doc, s.Comment)
			}
		case *ast.TypeSpec:
			doc := d.Doc
			if d.Lparen.IsValid() {
				doc = nil
			}
			c.add("", s.Name, doc, s.Doc, s.Comment)
			if s.Name.IsExported() {
				c.members(s.Name.Name, s.Type)
			}
		}
	}
}

// members counts the fields of a struct, also those of structs within it, and
// the methods of an interface.
func (c *docCount) members(owner string, t ast.Expr) {
	var list []*ast.Field
	switch t := t.(type) {
	case *ast.StructType:
		list = t.Fields.List
	case *ast.InterfaceType:
		list = t.Methods.List
	case *ast.StarExpr:
		c.members(owner, t.X)
	case *ast.ArrayType:
		c.members(owner, t.Elt)
	case *ast.MapType:
		c.members(owner, t.Value)
	}
	var group *ast.CommentGroup
	end := 0
	for _, field := range list {
		if field.Doc != nil || c.line(field.Pos()) != end+1 {
			group = field.Doc
		}
		end = c.line(field.End())
		for _, name := range field.Names {
			c.add(owner, name, group, field.Comment)
			if name.IsExported() {
				c.members(owner+"."+name.Name, field.Type)
			}
		}
	}
}

// line returns the line of a position.
func (c *docCount) line(pos token.Pos) int { return c.fset.Position(pos).Line }

// receiver returns the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}
