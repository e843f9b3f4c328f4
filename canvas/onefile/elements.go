package onefile

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// module is a module element: the path of its file, or its text.
type module struct{ src, text string }

// inline changes the elements of a document in their order.
func (d *document) inline(root *html.Node) error {
	var deferred []*html.Node
	var last *html.Node // in place of the module elements
	all := slices.Collect(root.Descendants())
	for _, n := range all {
		if n.Type == html.ElementNode && n.DataAtom == atom.Script && kindOf(n) == "importmap" {
			d.importMap(textOf(n))
		}
	}
	for _, n := range all {
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		case n.DataAtom == atom.Script && n.Namespace == "":
			later, err := d.script(n, &last)
			if err != nil {
				return err
			}
			if later {
				deferred = append(deferred, n)
			}
		case n.DataAtom == atom.Style || n.DataAtom == atom.Link:
			if err := d.sheet(n); err != nil {
				return err
			}
		case n.DataAtom == atom.Base, n.DataAtom == atom.Meta && attr(n, "http-equiv") != "":
			n.Parent.RemoveChild(n) // they would speak of the renderer's address
		default:
			if err := d.media(n); err != nil {
				return err
			}
		}
	}
	if body := find(root, atom.Body); body != nil {
		for _, n := range deferred { // an inline script ignores defer
			n.Parent.RemoveChild(n)
			body.AppendChild(n)
		}
	}
	return d.linkModules(last)
}

// kindOf returns what a script element is: "module", "importmap", "classic", or "" for data.
func kindOf(n *html.Node) string {
	switch kind := strings.ToLower(strings.TrimSpace(attr(n, "type"))); kind {
	case "module", "importmap":
		return kind
	case "", "text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript", "application/x-javascript":
		return "classic"
	}
	return ""
}

// script handles a script element. later reports that it runs after the document was parsed.
func (d *document) script(n *html.Node, last **html.Node) (later bool, err error) {
	src, external := lookup(n, "src")
	switch kind := kindOf(n); {
	case kind == "importmap":
		n.Parent.RemoveChild(n)
	case kind == "module":
		m := module{text: textOf(n)}
		if external {
			if m = (module{src: resolve(src, d.at)}); m.src == "" {
				return false, errorf("the page loads %q, and a chat loads nothing from elsewhere", src)
			}
		}
		d.modules = append(d.modules, m)
		if *last != nil {
			(*last).Parent.RemoveChild(*last)
		}
		*last = n
	case kind == "classic" && hasAttr(n, "nomodule"):
		n.Parent.RemoveChild(n)
	case kind == "classic" && external:
		text := ""
		if at := resolve(src, d.at); at != "" {
			c, _, err := d.optional(at)
			if err != nil {
				return false, err
			}
			text = string(c.Data)
		}
		later = hasAttr(n, "defer") && !hasAttr(n, "async")
		setText(n, guardScript(text))
		removeAttrs(n, "src", "integrity", "crossorigin", "defer", "async", "nonce")
	}
	return later, nil
}

// linkModules puts the linked modules into the last module element.
func (d *document) linkModules(n *html.Node) error {
	if n == nil {
		return nil
	}
	text, err := d.link()
	if err != nil {
		return err
	}
	setText(n, guardScript(text))
	removeAttrs(n, "src", "integrity", "crossorigin", "async", "nonce")
	return nil
}

// importMap reads the imports of an import map; scopes are ignored.
func (d *document) importMap(text string) {
	var m struct {
		Imports map[string]string `json:"imports"`
		Rest    ahp.Value         `json:",embed"`
	}
	if ahp.Unmarshal(ahp.Value(text), &m) == nil && d.imports == nil {
		d.imports = m.Imports
	}
}

// sheet makes a style sheet inline.
func (d *document) sheet(n *html.Node) error {
	if n.DataAtom == atom.Style {
		css, err := d.css(textOf(n), d.at)
		if err == nil {
			setText(n, css)
		}
		return err
	}
	rel := strings.Fields(strings.ToLower(attr(n, "rel")))
	at := resolve(attr(n, "href"), d.at)
	if slices.Contains(rel, "stylesheet") && !slices.Contains(rel, "alternate") && at != "" {
		c, ok, err := d.optional(at)
		if err != nil {
			return err
		}
		if ok {
			css, err := d.css(string(c.Data), at)
			if err != nil {
				return err
			}
			style := element(atom.Style, css)
			if media := attr(n, "media"); media != "" {
				style.Attr = []html.Attribute{{Key: "media", Val: media}}
			}
			n.Parent.InsertBefore(style, n)
		}
	}
	n.Parent.RemoveChild(n) // hints and icons have no effect here
	return nil
}

// sources are the attributes that load a file, by element.
var sources = map[string][]string{
	"img": {"src"}, "input": {"src"}, "video": {"src", "poster"}, "audio": {"src"}, "source": {"src"}, "track": {"src"},
	"image": {"href"}, // of SVG
}

// media makes what an element shows a data: URL.
func (d *document) media(n *html.Node) error {
	switch n.Data {
	case "iframe", "object", "embed", "frame", "portal":
		removeAttrs(n, "src", "data", "srcdoc")
		return nil
	}
	if len(sources[n.Data]) > 0 {
		removeAttrs(n, "srcset", "integrity", "crossorigin")
	}
	for _, name := range sources[n.Data] {
		ref, ok := lookup(n, name)
		at := resolve(ref, d.at)
		if !ok || at == "" {
			continue
		}
		data, err := d.dataURL(at)
		if err != nil {
			return err
		}
		removeAttrs(n, name)
		if data != "" {
			n.Attr = append(n.Attr, html.Attribute{Key: name, Val: data})
		}
	}
	return nil
}

// dataURL returns a file as a data: URL, "" if it is absent.
func (d *document) dataURL(at string) (string, error) {
	c, ok, err := d.optional(at)
	if !ok {
		return "", err
	}
	return "data:" + contentType(c, at) + ";base64," + base64.StdEncoding.EncodeToString(c.Data), nil
}

var (
	endsScript = regexp.MustCompile(`(?i)<(/script|!--)`)
	endsStyle  = regexp.MustCompile(`(?i)</(style)`)
)

// guardScript rewrites what would end a script element, or hide its end, as the same text in
// a string or a regular expression.
func guardScript(text string) string { return endsScript.ReplaceAllString(text, `\x3c$1`) }

// guardStyle rewrites what would end a style element.
func guardStyle(text string) string { return endsStyle.ReplaceAllString(text, `\3c/$1`) }

func element(a atom.Atom, text string) *html.Node {
	n := &html.Node{Type: html.ElementNode, DataAtom: a, Data: a.String()}
	setText(n, text)
	return n
}

func setText(n *html.Node, text string) {
	for n.FirstChild != nil {
		n.RemoveChild(n.FirstChild)
	}
	n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.ChildNodes() {
		b.WriteString(c.Data)
	}
	return b.String()
}

func find(root *html.Node, a atom.Atom) *html.Node {
	for n := range root.Descendants() {
		if n.DataAtom == a {
			return n
		}
	}
	return nil
}

func lookup(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && (a.Namespace == "" || a.Namespace == "xlink") {
			return a.Val, true
		}
	}
	return "", false
}

func attr(n *html.Node, name string) string { v, _ := lookup(n, name); return v }

func hasAttr(n *html.Node, name string) bool { _, ok := lookup(n, name); return ok }

func removeAttrs(n *html.Node, names ...string) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return slices.Contains(names, a.Key) })
}
