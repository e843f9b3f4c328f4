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

type link struct{ File, Title string }

// html returns a topic as a whole document.
func (b book) html(t topic) ([]byte, error) {
	var body, out bytes.Buffer
	if err := converter.Convert([]byte(t.markdown), &body); err != nil {
		return nil, err
	}
	p := page{Title: t.title, Name: t.name, Body: template.HTML(body.String())} // goldmark escapes raw HTML
	for _, other := range b {
		p.Topics = append(p.Topics, link{other.name + ".html", other.title})
	}
	err := pageTemplate.Execute(&out, p)
	return out.Bytes(), err
}

var converter = goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(toPages{}, 100))))

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
