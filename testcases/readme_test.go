package testcases

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"`)
	coded   = regexp.MustCompile("`([^` ]+)`")
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	inTable = regexp.MustCompile(`(?m)^\|.*$`)
	isFile  = regexp.MustCompile(`/|\.(go|js|json)$`)
)

// TestLinks resolves every link of the documents: the file is in this repository and has the
// heading. It opens no address of the network. Package docs checks the links of its topics.
func TestLinks(t *testing.T) {
	tree, err := readTree("..")
	if err != nil {
		t.Fatal(err)
	}
	docs := []string{"CHANGELOG.md"} // which the tree does not have
	for name := range tree.text {
		if path.Ext(name) == ".md" && !strings.HasPrefix(name, "cmd/ahp-canvas/internal/docs/") {
			docs = append(docs, name)
		}
	}
	if len(docs) < 15 {
		t.Errorf("found %d documents", len(docs))
	}
	for _, doc := range docs {
		text, err := os.ReadFile(filepath.Join("..", doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			target, anchor, _ := strings.Cut(m[1]+m[2], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := path.Join(path.Dir(doc), target)
			if target == "" {
				file = doc
			}
			if _, err := os.Stat(filepath.Join("..", file)); err != nil {
				t.Errorf("%s: the link to %s: %v", doc, m[1]+m[2], err)
			}
			if anchor != "" && !hasAnchor(tree.text[file], anchor) {
				t.Errorf("%s: %s has no heading #%s", doc, file, anchor)
			}
		}
	}
}

var (
	shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")
	ownFolder  = regexp.MustCompile(` (\./[\w-]+)`)
	fixedPort  = regexp.MustCompile(`wss?://(?:localhost|127\.0\.0\.1):(\d+)`)
)

// TestReadmeNeedsNothing checks that the README's commands work in a fresh clone: a folder
// that one names was made by an earlier one, and at a WebSocket's port an earlier one
// listens. Package programtest runs them.
func TestReadmeNeedsNothing(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	made, listens := map[string]bool{}, map[string]bool{}
	lines := 0
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			lines++
			if strings.HasPrefix(line, "ahp-canvas relay --") {
				listens["8443"] = true // its default
			}
			for _, m := range ownFolder.FindAllStringSubmatch(line, -1) {
				switch {
				case strings.HasPrefix(line, "ahp-canvas new "):
					made[m[1]] = true
				case !made[m[1]] && !strings.HasPrefix(line, "go install "):
					t.Errorf("no earlier command makes the folder of %s", line)
				}
			}
			for _, m := range fixedPort.FindAllStringSubmatch(line, -1) {
				if !listens[m[1]] {
					t.Errorf("no earlier command listens at the port of %s", line)
				}
			}
		}
	}
	if lines < 15 {
		t.Errorf("the README has %d commands", lines)
	}
}

// TestWhereToChange finds each folder and file in the table of CONTRIBUTING. A file
// without a folder is in the folder that its row names before it.
func TestWhereToChange(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## I want to change")
	table, _, _ = strings.Cut(table, "\n## ")
	found := 0
	for _, row := range inTable.FindAllString(table, -1) {
		folder := ""
		for _, m := range coded.FindAllStringSubmatch(row, -1) {
			name := m[1]
			switch {
			case isFolder(name):
				folder = name
			case !isFile.MatchString(name):
				continue // a word of a program
			case strings.Contains(strings.TrimSuffix(name, "/"), "/"):
				folder = path.Dir(name)
			default:
				name = path.Join(folder, name)
			}
			found++
			if _, err := os.Stat(filepath.Join("..", name)); err != nil {
				t.Errorf("CONTRIBUTING.md names %s: %v", name, err)
			}
		}
	}
	if found < 40 {
		t.Errorf("the table names %d folders and files", found)
	}
}

func isFolder(name string) bool {
	info, err := os.Stat(filepath.Join("..", name))
	return err == nil && info.IsDir()
}

// TestPictures keeps the README's pictures small, so that its page loads quickly.
func TestPictures(t *testing.T) {
	const most = 300 << 10
	found := 0
	err := filepath.WalkDir("../.github/readme", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > most {
			t.Errorf("%s has %d bytes, more than %d", file, info.Size(), most)
		}
		found++
		return err
	})
	if err != nil || found < 2 {
		t.Errorf("found %d pictures: %v", found, err)
	}
}
