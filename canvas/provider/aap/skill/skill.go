// Package skill has the skill canvas-actions: a text that teaches an agent when to make an
// AAP page, how to make it, and how to react to what people do in it. It has a tested
// template for each kind of data.
//
// The package has no state and imports the standard library only.
package skill

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed SKILL.md templates
var files embed.FS

// Templates are the names of the templates, in the order of the skill's table.
var Templates = []string{"table.html", "metrics.html", "form.html", "workflow.html", "tree.html"}

// Text returns the skill as one Markdown file, with the templates at its end.
func Text() string {
	var b strings.Builder
	b.WriteString(read("SKILL.md"))
	for _, name := range Templates {
		b.WriteString("\n### " + name + "\n\n```html\n" + read("templates/"+name) + "```\n")
	}
	return b.String()
}

// Template returns the HTML of a template; "" if there is none of that name.
func Template(name string) string {
	b, _ := fs.ReadFile(files, "templates/"+name)
	return string(b)
}

// read returns a file that is embedded.
func read(name string) string {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err)
	}
	return string(b)
}
