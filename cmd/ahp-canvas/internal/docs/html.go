package docs

import (
	"bytes"
	_ "embed"
	"html/template"
	"os"
	"path/filepath"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// page is what the template is given.
type page struct {
	Title  string
	Name   string
	Body   template.HTML
	Topics []link
}

// link is a topic in the list. Sections are the headings of the page that is shown.
type link struct {
	File, Title string
	Sections    []section
}

type section struct{ ID, Title string }

// html returns a topic as a whole document.
func (b book) html(t topic) ([]byte, error) {
	var body, out bytes.Buffer
	source := []byte(t.markdown)
	doc := converter.Parser().Parse(text.NewReader(source))
	if err := converter.Renderer().Render(&body, source, doc); err != nil {
		return nil, err
	}
	p := page{Title: t.title, Name: t.name, Body: template.HTML(body.String())} // goldmark escapes raw HTML
	for _, other := range b {
		l := link{File: other.name + ".html", Title: other.title}
		if other.name == t.name {
			l.Sections = sections(doc, source)
		}
		p.Topics = append(p.Topics, l)
	}
	err := pageTemplate.Execute(&out, p)
	return out.Bytes(), err
}

// sections returns the headings below the title.
func sections(doc ast.Node, source []byte) (all []section) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
			id, _ := h.AttributeString("id")
			name, _ := id.([]byte)
			all = append(all, section{string(name), plain((&printer{source: source}).inline(h))})
		}
	}
	return all
}

var converter = goldmark.New(
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(toPages{}, 100), util.Prioritized(toFloors{}, 101))),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(drawFloors{}, 100))),
)

// topicLink is how the topics name each other, as in topic:operate#as-a-service.
var topicLink = regexp.MustCompile(`^topic:([a-z]+)`)

// toPages makes links between topics links between their pages.
type toPages struct{}

// Transform implements parser.ASTTransformer.
func (toPages) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			l.Destination = []byte(topicLink.ReplaceAllString(string(l.Destination), "$1.html"))
		}
		return ast.WalkContinue, nil
	})
}

// files returns the pages by name. The first topic is also index.html.
func (b book) files() (map[string][]byte, error) {
	all := map[string][]byte{}
	for i, t := range b {
		data, err := b.html(t)
		if err != nil {
			return nil, err
		}
		all[t.name+".html"] = data
		if i == 0 {
			all["index.html"] = data
		}
	}
	return all, nil
}

// export writes the pages into a folder.
func (b book) export(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	all, err := b.files()
	if err != nil {
		return err
	}
	for name, data := range all {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
