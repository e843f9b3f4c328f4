package docs

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// terminalText lays Markdown out for a terminal of a width.
func terminalText(markdown string, width int, style term.Style) string {
	p := &printer{source: []byte(markdown), width: width, style: style}
	p.blocks(goldmark.DefaultParser().Parse(text.NewReader(p.source)), "")
	return p.out.String()
}

// printer lays out the blocks of one document.
type printer struct {
	source []byte
	width  int
	style  term.Style
	out    strings.Builder
}

// blocks prints the children of a node, with an empty line between them. Items of a list
// are close together.
func (p *printer) blocks(parent ast.Node, indent string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil && n.Kind() != ast.KindListItem && n.Kind() != ast.KindList {
			p.out.WriteString("\n")
		} else if n.PreviousSibling() != nil && parent.Kind() == ast.KindDocument {
			p.out.WriteString("\n")
		}
		p.block(n, indent)
	}
}

func (p *printer) block(n ast.Node, indent string) {
	switch n := n.(type) {
	case *ast.Heading:
		p.out.WriteString(indent + p.style.Bold(plain(p.inline(n))) + "\n")
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			p.out.WriteString(indent + "    " + p.style.Code(strings.TrimRight(string(line.Value(p.source)), "\n")) + "\n")
		}
	case *ast.List:
		p.blocks(n, indent)
	case *ast.ListItem:
		p.item(n, indent)
	case *ast.ThematicBreak:
		p.out.WriteString(indent + strings.Repeat("-", 8) + "\n")
	default:
		if n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline {
			p.paragraph(n, indent, indent)
			return
		}
		p.blocks(n, indent)
	}
}

// item prints an item of a list, its first paragraph beside the bullet.
func (p *printer) item(n *ast.ListItem, indent string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c == n.FirstChild() && c.Kind() != ast.KindList {
			p.paragraph(c, indent+"- ", indent+"  ")
			continue
		}
		p.block(c, indent+"  ")
	}
}

// paragraph folds a text into lines, of which the first begins differently.
func (p *printer) paragraph(n ast.Node, first, others string) {
	open := map[string]bool{}
	for i, line := range term.Fold(p.inline(n), p.width-len(others)) {
		if i == 0 {
			p.out.WriteString(first)
		} else {
			p.out.WriteString(others)
		}
		p.out.WriteString(p.marked(line, open) + "\n")
	}
}

// Text between these characters is code, and between those strong. They take no column,
// and are replaced when a line is printed.
const codeMark, strongMark = "\x02", "\x03"

// marked replaces the marks by those of the terminal. open says whether the lines before
// have left code or strong text open.
func (p *printer) marked(line string, open map[string]bool) string {
	for mark, with := range map[string]func(string) string{codeMark: p.style.Code, strongMark: p.style.Bold} {
		parts := strings.Split(line, mark)
		for i := range parts {
			if i > 0 {
				open[mark] = !open[mark]
			}
			if open[mark] {
				parts[i] = with(parts[i])
			}
		}
		line = strings.Join(parts, "")
	}
	return line
}

func plain(text string) string {
	return strings.NewReplacer(codeMark, "", strongMark, "").Replace(text)
}

// inline returns the text of a paragraph with its marks.
func (p *printer) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(util.UnescapePunctuations(n.Value(p.source)))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.CodeSpan:
			b.WriteString(codeMark + p.raw(n) + codeMark)
		case *ast.Emphasis:
			b.WriteString(strongMark + plain(p.inline(n)) + strongMark)
		case *ast.Link:
			b.WriteString(p.inline(n) + linkText(string(n.Destination)))
		case *ast.AutoLink:
			b.Write(n.URL(p.source))
		default:
			b.WriteString(p.inline(n))
		}
	}
	return b.String()
}

// linkText says where a link leads: a topic by the command that prints it.
func linkText(to string) string {
	if m := topicLink.FindStringSubmatch(to); m != nil {
		return " (ahp-canvas docs " + m[1] + ")"
	}
	return " (" + to + ")"
}

// raw returns the text of a code span, in which a backslash is one.
func (p *printer) raw(span ast.Node) string {
	var b strings.Builder
	for n := span.FirstChild(); n != nil; n = n.NextSibling() {
		if t, ok := n.(*ast.Text); ok {
			b.Write(t.Value(p.source))
		}
	}
	return b.String()
}
