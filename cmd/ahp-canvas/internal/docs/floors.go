package docs

import (
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// floors is a code block in the language "floors", which a page draws as boxes on top of each
// other. Lines "---" are between them; every other line is a name and what it is. A terminal
// shows the lines.
type floors struct {
	ast.BaseBlock
	text string
}

var kindFloors = ast.NewNodeKind("Floors")

// Kind implements ast.Node.
func (*floors) Kind() ast.NodeKind { return kindFloors }

// Dump implements ast.Node.
func (f *floors) Dump(source []byte, level int) { ast.DumpHelper(f, source, level, nil, nil) }

// toFloors replaces the code blocks.
type toFloors struct{}

// Transform implements parser.ASTTransformer.
func (toFloors) Transform(doc *ast.Document, r text.Reader, _ parser.Context) {
	for n := doc.FirstChild(); n != nil; {
		next := n.NextSibling()
		if c, ok := n.(*ast.FencedCodeBlock); ok && string(c.Language(r.Source())) == "floors" {
			doc.ReplaceChild(doc, c, &floors{text: string(c.Lines().Value(r.Source()))})
		}
		n = next
	}
}

// drawFloors writes the boxes.
type drawFloors struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (drawFloors) RegisterFuncs(to renderer.NodeRendererFuncRegisterer) {
	to.Register(kindFloors, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		fmt.Fprint(w, "<ol class=\"floors\">\n")
		for floor := range strings.SplitSeq(n.(*floors).text, "---\n") {
			fmt.Fprint(w, "<li><dl>\n")
			for line := range strings.Lines(floor) {
				name, what, _ := strings.Cut(strings.TrimSpace(line), " ")
				fmt.Fprintf(w, "<dt><code>%s</code></dt><dd>%s</dd>\n", html.EscapeString(name), html.EscapeString(strings.TrimSpace(what)))
			}
			fmt.Fprint(w, "</dl></li>\n")
		}
		fmt.Fprint(w, "</ol>\n")
		return ast.WalkContinue, nil
	})
}
