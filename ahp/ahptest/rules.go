package ahptest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Rules is the RULES.md of a package: a table of the rules of a document, each with the
// tests that fail without it.
type Rules struct {
	text string
	// Named are the tests that it names, "TestX" or "prefix:TestX".
	Named []string
}

var (
	declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	namedTest    = regexp.MustCompile(`(?:\b[a-z0-9]+:)?(?:Test|Fuzz)[A-Z]\w+`)
)

// ReadRules reads the RULES.md of the working folder. Every test that it names must exist:
// those with a prefix in that folder of dirs, those without in the working folder.
func ReadRules(t testing.TB, dirs map[string]string) Rules {
	t.Helper()
	tests := testsIn(t, "", ".")
	for prefix, dir := range dirs {
		tests = append(tests, testsIn(t, prefix+":", dir)...)
	}
	exist := map[string]bool{}
	for _, name := range tests {
		exist[name] = true
	}
	text, err := os.ReadFile("RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	r := Rules{text: string(text), Named: namedTest.FindAllString(string(text), -1)}
	for _, name := range r.Named {
		if !exist[name] {
			t.Errorf("RULES.md names %s, which does not exist", name)
		}
	}
	return r
}

// testsIn returns the tests of the package in a folder, each behind a prefix.
func testsIn(t testing.TB, prefix, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files of tests, %v", dir, len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declaredTest.FindAllSubmatch(raw, -1) {
			names = append(names, prefix+string(m[1]))
		}
	}
	return names
}

// Section returns the rules of one section, up to the next.
func (r Rules) Section(heading string) Rules {
	_, rest, _ := strings.Cut(r.text, "\n## "+heading+"\n")
	r.text, _, _ = strings.Cut(rest, "\n## ")
	return r
}

// Tested reports whether the row of a rule, whose first cell is its number, names a test.
func (r Rules) Tested(number string) bool {
	_, row, found := strings.Cut(r.text, "\n| "+number+" | ")
	row, _, _ = strings.Cut(row, "\n")
	return found && namedTest.MatchString(row)
}
