package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

const module = "github.com/ahp-canvas/ahp-canvas/"

// packages are the folders whose comments and constants are read.
var packages = []string{"ahp", "session", "canvas"}

// source has what reflection cannot see: comments, and the constants of named
// types. Keys are "folder.Type" and "folder.Type.Field".
type source struct {
	docs   map[string]string
	consts map[string][]constant // by "folder.Type", or "folder." for constants without a type

	methods map[string]string // comments of methods, by name on the wire
}

type constant struct{ name, value, doc string }

// readSource parses the packages in root, the module's folder.
func readSource(root string) (*source, error) {
	s := &source{docs: map[string]string{}, consts: map[string][]constant{}, methods: map[string]string{}}
	for _, pkg := range packages {
		names, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
		if err == nil && len(names) == 0 {
			err = fs.ErrNotExist
		}
		if err != nil {
			return nil, &fs.PathError{Op: "read sources", Path: filepath.Join(root, pkg), Err: err}
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			s.addFile(pkg, file)
		}
	}
	return s, nil
}

func (s *source) addFile(pkg string, file *ast.File) {
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.addType(pkg, gen, spec)
			case *ast.ValueSpec:
				if gen.Tok == token.CONST {
					s.addConst(pkg, spec)
				} else {
					s.addVar(spec)
				}
			}
		}
	}
}

func (s *source) addType(pkg string, gen *ast.GenDecl, spec *ast.TypeSpec) {
	key := pkg + "." + spec.Name.Name
	s.docs[key] = comment(spec.Doc, gen.Doc)
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range fields.Fields.List {
		for _, name := range f.Names {
			s.docs[key+"."+name.Name] = comment(f.Doc, f.Comment)
		}
	}
}

// addConst records constants that are string or integer literals.
func (s *source) addConst(pkg string, spec *ast.ValueSpec) {
	key := pkg + "."
	if t, ok := spec.Type.(*ast.Ident); ok {
		key += t.Name
	}
	for i, name := range spec.Names {
		if i >= len(spec.Values) || !name.IsExported() {
			continue
		}
		if value, ok := literal(spec.Values[i]); ok {
			s.consts[key] = append(s.consts[key], constant{name.Name, value, comment(spec.Doc, spec.Comment)})
		}
	}
}

// addVar records the comment of a method by its name on the wire, which is the
// first argument of the call in a line like "Ping = NewMethod[...]("ping",
// ...)". The Go name that begins a doc comment is left out.
func (s *source) addVar(spec *ast.ValueSpec) {
	for i, v := range spec.Values {
		call, ok := v.(*ast.CallExpr)
		if ok && len(call.Args) == 0 { // NewMethod[...](...).ChangesNothing()
			if of, selects := call.Fun.(*ast.SelectorExpr); selects {
				call, ok = of.X.(*ast.CallExpr)
			}
		}
		if ok && len(call.Args) == 2 {
			if name, ok := literal(call.Args[0]); ok {
				s.methods[name] = strings.TrimPrefix(comment(spec.Doc, spec.Comment), spec.Names[i].Name+" ")
			}
		}
	}
}

func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			return s, err == nil
		}
		return e.Value, e.Kind == token.INT
	case *ast.UnaryExpr:
		s, ok := literal(e.X)
		return e.Op.String() + s, ok
	}
	return "", false
}

var docLink = regexp.MustCompile(`\[([A-Za-z.]+)\]`)

// comment returns the first comment that is not empty, as one line of plain
// text.
func comment(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
			return docLink.ReplaceAllString(text, "$1")
		}
	}
	return ""
}

// doc returns the comment of a type, or of its field.
func (s *source) doc(t reflect.Type, field string) string {
	key := key(t)
	if field != "" {
		key += "." + field
	}
	return s.docs[key]
}

// values returns the constants of a named string type.
func (s *source) values(t reflect.Type) []any {
	var out []any
	for _, c := range s.consts[key(t)] {
		out = append(out, c.value)
	}
	return out
}

func key(t reflect.Type) string {
	return strings.TrimPrefix(t.PkgPath(), module) + "." + t.Name()
}
