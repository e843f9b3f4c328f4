package testcases

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCitations resolves every mention of a document: the file is in this
// repository, and it has the section that is cited with it.
func TestCitations(t *testing.T) {
	tree, err := readTree("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tree.files {
		for _, c := range citationsIn(tree.text[name]) {
			if err := tree.resolve(name, c); err != nil {
				t.Errorf("%s:%d: %v", name, c.line, err)
			}
		}
		for _, m := range ownAnchor.FindAllStringSubmatch(tree.text[name], -1) {
			if strings.HasSuffix(name, ".md") && !hasAnchor(tree.text[name], m[1]) {
				t.Errorf("%s: it has no heading #%s", name, m[1])
			}
		}
	}
}

// TestCitationForms lists the forms that the test above recognizes.
func TestCitationForms(t *testing.T) {
	tree := newSourceTree(map[string]string{
		"a/PROTOCOL.md":   "# A\n## 1. One\n1. first\n2. second\n## 2a. Two\n### 2.1 Three\n",
		"a/b/PROTOCOL.md": "## 7. Seven\n",
	})
	for text, good := range map[string]bool{
		"a/PROTOCOL.md section 1":                true,
		"a/PROTOCOL.md sections 1 and 2a":        true,
		"a/PROTOCOL.md sections 1, 2a and 2.1":   true,
		"a/PROTOCOL.md section 1.2":              true,
		"a/PROTOCOL.md section 1.3":              false,
		"a/PROTOCOL.md sections 1 and 3":         false,
		"[`a/PROTOCOL.md` section 3](x)":         false,
		"// a/PROTOCOL.md\n\t// section 3":       false,
		"PROTOCOL.md section 7":                  true,
		"PROTOCOL.md section 1":                  false,
		"[x](../PROTOCOL.md#1-one)":              true,
		"[x](../PROTOCOL.md#1-two)":              false,
		"other.md":                               false,
		"https://example.com/other.md section 1": true,
	} {
		var err error
		for _, c := range citationsIn(text) {
			if e := tree.resolve("a/b/x.go", c); e != nil {
				err = e
			}
		}
		if (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// citation is a mention of a Markdown file, with the sections or the anchor that
// stand behind it.
type citation struct {
	line     int
	file     string
	sections []string
	anchor   string
}

var (
	lineBreak = regexp.MustCompile(`\n[ \t]*(?://+|\*|#)?[ \t]*`)
	mention   = regexp.MustCompile(`[A-Za-z0-9_./-]*[A-Za-z0-9_-]\.md\b`)
	places    = regexp.MustCompile("^[`\"')\\]]*,? (?:sections? )?(" + place + `(?:(?:, | and | or | to )` + place + `)*)\b`)
	placeOne  = regexp.MustCompile(place)
	ownAnchor = regexp.MustCompile(`\]\(#([a-z0-9_-]+)\)`)
	anchored  = regexp.MustCompile(`^#([a-z0-9_-]+)`)
)

const place = `\d+[a-z]?(?:\.\d+)*`

// citationsIn finds the mentions in a text, also those that a comment's line
// break splits.
func citationsIn(text string) (found []citation) {
	for _, at := range mention.FindAllStringIndex(text, -1) {
		name := text[at[0]:at[1]]
		if strings.HasPrefix(name, "//") || strings.HasSuffix(text[:at[0]], ":") && strings.HasPrefix(name, "/") {
			continue // of a URL
		}
		c := citation{line: 1 + strings.Count(text[:at[0]], "\n"), file: name}
		rest := lineBreak.ReplaceAllString(text[at[1]:min(len(text), at[1]+120)], " ")
		if m := places.FindStringSubmatch(rest); m != nil {
			c.sections = placeOne.FindAllString(m[1], -1)
		}
		if m := anchored.FindStringSubmatch(rest); m != nil {
			c.anchor = m[1]
		}
		found = append(found, c)
	}
	return found
}

// sourceTree is the texts of the repository, by slash-separated path.
type sourceTree struct {
	files []string // sorted
	text  map[string]string
}

func newSourceTree(text map[string]string) *sourceTree {
	tree := &sourceTree{text: text}
	for name := range text {
		tree.files = append(tree.files, name)
	}
	slices.Sort(tree.files)
	return tree
}

var citing = []string{".go", ".js", ".mjs", ".ts", ".md", ".txt", ".json", ".html"}

// readTree reads the files that can cite a document.
func readTree(root string) (*sourceTree, error) {
	text := map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "node_modules" || name == "dist" || strings.HasPrefix(name, ".") && file != root {
				return fs.SkipDir
			}
			return nil
		}
		bundled := d.Name() == "renderer.js" // other projects' code, where t.md is a member
		if !slices.Contains(citing, filepath.Ext(file)) || bundled || d.Name() == "CHANGELOG.md" || d.Name() == "citations_test.go" {
			return nil
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		text[filepath.ToSlash(name)] = string(b)
		return err
	})
	return newSourceTree(text), err
}

// resolve reports why a citation in the file named from leads nowhere.
func (tree *sourceTree) resolve(from string, c citation) error {
	target := tree.find(from, c.file)
	if target == "" {
		if len(c.sections) == 0 && c.anchor == "" && tree.known(c.file) {
			return nil
		}
		return fmt.Errorf("%s is not in this repository", c.file)
	}
	text := tree.text[target]
	for _, s := range c.sections {
		if !hasSection(text, s) {
			return fmt.Errorf("%s has no section %s", target, s)
		}
	}
	if c.anchor != "" && !hasAnchor(text, c.anchor) {
		return fmt.Errorf("%s has no heading #%s", target, c.anchor)
	}
	return nil
}

// find returns the cited file: a path from the root or from the citing file's
// folder, or a bare name in the nearest enclosing folder.
func (tree *sourceTree) find(from, name string) string {
	dir := path.Dir(from)
	candidates := []string{path.Clean(name), path.Join(dir, name)}
	if !strings.Contains(name, "/") {
		candidates = nil
		for d := dir; ; d = path.Dir(d) {
			candidates = append(candidates, path.Join(d, name))
			if d == "." {
				break
			}
		}
	}
	for _, c := range candidates {
		if _, ok := tree.text[c]; ok {
			return c
		}
	}
	return ""
}

// known reports whether a document of this name is anywhere in the tree. The
// changelog is, but citations in it are not read.
func (tree *sourceTree) known(name string) bool {
	return name == "CHANGELOG.md" || slices.ContainsFunc(tree.files, func(f string) bool { return path.Base(f) == name })
}

var heading = regexp.MustCompile(`(?m)^#+ (?:(\d+[a-z]?(?:\.\d+)*)\.? )?.*$`)

// hasSection reports whether a document has a heading with a number, or, for
// N.M, item M of a numbered list in section N.
func hasSection(text, number string) bool {
	headings := heading.FindAllStringSubmatchIndex(text, -1)
	parent, item, nested := "", "", false
	if i := strings.LastIndex(number, "."); i > 0 {
		parent, item, nested = number[:i], number[i+1:], true
	}
	for i, h := range headings {
		if h[2] < 0 {
			continue
		}
		switch text[h[2]:h[3]] {
		case number:
			return true
		case parent:
			end := len(text)
			if i+1 < len(headings) {
				end = headings[i+1][0]
			}
			if nested && strings.Contains(text[h[1]:end], "\n"+item+". ") {
				return true
			}
		}
	}
	return false
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// hasAnchor reports whether a document has a heading with an anchor, as GitHub
// derives it.
func hasAnchor(text, anchor string) bool {
	for _, h := range heading.FindAllString(text, -1) {
		title := strings.TrimSpace(strings.TrimLeft(h, "#"))
		title = notInAnchor.ReplaceAllString(strings.ToLower(title), "")
		if strings.ReplaceAll(title, " ", "-") == anchor {
			return true
		}
	}
	return false
}
