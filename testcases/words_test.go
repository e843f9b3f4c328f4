package testcases

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// avoided lists words that make a text hard to read, with what to write instead.
// A space matches any white space, so that a phrase may continue on the next line.
var avoided = []struct{ pattern, instead string }{
	// Pronouns and passives without a noun: the reader must guess who acts.
	{`whoever|whosoever`, "name who: the client, the caller"},
	{`(?:by|to|for|of|from|with|than|and|but|where|whom|[.:;]) who (?:asks?|asked|calls|called|has|is|was|reads|waits|looks|writes|wants|knows|gives|gave|does|did)`, "name who: the caller, the reader"},
	{`nobody|everybody|anybody|somebody`, "name who: no client, every subscriber"},
	{`(?:is|are|was|were|be) (?:said|told)`, "say who reports what"},
	{`what is (?:said|asked|told|done|there|meant|wanted|kept|given)`, "name the thing"},
	{`none that|such a one|that one is|the one of`, "name the thing"},
	{`by (?:itself|himself|themselves)`, "automatically, or nothing"},
	{`of (?:its|their|his|a provider's|the host's) own`, "its, separate, private"},
	{`anew`, "again"},
	{`the other way (?:round|around)`, "say the other direction"},
	{`(?:goes|go|went|going) on`, "continues"},
	{`(?:comes?|came|coming) back`, "returns, reconnects"},
	{`(?:has|have|had|with|without|no) room`, "space, capacity"},
	{`mend(?:s|ed|ing)?`, "fix, repair"},
	{`(?:hears|heard|to hear)`, "receives"},
	{`told`, "reports, notifies"},
	{`looks? after`, "maintains"},
	{`(?:takes?|took) back`, "rolls back"},
	{`no (?:longer|more) there|is there|are there`, "exists"},
	{`where it is (?:not|absent|empty|nil|set)|where there is (?:none|no)|where (?:it|they) (?:has|have) none`, "if"},
	{`as (?:it|they) (?:is|are)`, "unchanged"},
	{`is not wanted|that is wanted|nor is`, "say who wants it"},
	{`crowd|revived?|revives|sweeps?|swept`, "connection limit, reopen, scan"},
	// American spelling.
	{`(?:behavi|col|fav|hon|lab|neighb|flav|hum|rum)our(?:s|ed|ing|able|ite)?`, "-or"},
	{`(?:cancel|dial|label|signal|travel|model|marshal|unmarshal|channel|tunnel|total)l(?:ed|ing|er|ers)`, "one l"},
	{`(?:serial|normal|author|recogn|organ|initial|final|minim|maxim|optim|real|synchron|custom|summar|util|capital|token|canonical|general)is(?:e|es|ed|ing|ation|er)`, "-ize"},
	{`(?:analy|paraly)s(?:e|ed|es|ing)`, "-yze"},
	{`(?:cent|met|fib|calib)re(?:s|d)?`, "-er"},
	{`catalogue|dialogue|grey|licence|defence|offence|whilst|amongst|judgement|artefact|programme`, "the American spelling"},
}

// TestWords looks for avoided words in the texts that people read: Go comments,
// errors and log messages, the comments and strings of the page's scripts, and
// the documents. A hit that is a real use stands in testdata/words_allowed.txt,
// with the reason.
func TestWords(t *testing.T) {
	if testing.Short() {
		t.Skip("reads sources: a race detector finds nothing here")
	}
	texts := readTexts(t)
	allowed := readAllowed(t)
	used := map[int]bool{}
	for _, x := range texts {
		for _, hit := range x.hits() {
			i := slices.IndexFunc(allowed, func(a allowedWord) bool { return a.covers(x, hit) })
			if i < 0 {
				t.Errorf("%s:%d: %q (write: %s)\n\t%s", x.file, x.line+strings.Count(x.text[:hit.at], "\n"), hit.word, hit.instead, x.around(hit.at))
				continue
			}
			used[i] = true
		}
	}
	for i, a := range allowed {
		if !used[i] {
			t.Errorf("testdata/words_allowed.txt:%d: nothing needs this entry", a.line)
		}
	}
}

// TestSampleComments prints comments drawn at random for a maintainer to read as a
// stranger would. AHP_SAMPLE is the seed;
// go test needs -v to print them.
func TestSampleComments(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("AHP_SAMPLE"), 10, 64)
	if err != nil {
		t.Skip("set AHP_SAMPLE to a number")
	}
	var comments []text
	for _, x := range readTexts(t) {
		if x.kind == comment && strings.HasSuffix(x.file, ".go") {
			comments = append(comments, x)
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for n, i := range r.Perm(len(comments))[:min(100, len(comments))] {
		x := comments[i]
		fmt.Printf("%d. %s:%d\n%s\n", n+1, x.file, x.line, strings.TrimRight(x.text, " \n"))
		if x.next != "" {
			fmt.Printf("    | %s\n", x.next)
		}
	}
}

// TestWordForms lists what the patterns find in which file.
func TestWordForms(t *testing.T) {
	for _, c := range []struct {
		file, text string
		hits       int
	}{
		{"a.go", "package a\n\n// It starts\n// anew.\nfunc a() {}", 1},
		{"a.go", "package a\n\nfunc a() {} // Canceled by itself.", 1},
		{"a.go", "package a\n\nvar err = errors.New(\"nobody \" + \"listens\")", 1},
		{"a.go", "package a\n\nvar s = \"nobody\"", 0},
		{"a.go", "package a\n\n//go:generate anew\nvar s = 1", 0},
		{"a.go", "package a\n\n// The spelling `anew` is code.\nvar s = 1", 0},
		{"a.go", "package a\n\n// recommended\nvar s = 1", 0},
		{"canvas/web/page/a.js", "f(/[\"']/, 'serialise'); // the behaviour\n", 2},
		{"canvas/web/page/a.js", "const whoever = `${a} nobody`;", 1},
		{"other/a.js", "// anew", 0},
		{"README.md", "It comes\nback.", 1},
		{"README.md", "```\nanew\n```\n", 0},
	} {
		texts, err := textsIn(c.file, c.text)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, x := range texts {
			for _, h := range x.hits() {
				found = append(found, h.word)
			}
		}
		if len(found) != c.hits {
			t.Errorf("%s %q: found %q, want %d", c.file, c.text, found, c.hits)
		}
	}
}

// text is a comment, a string or a paragraph of a file.
type text struct {
	file string
	line int
	kind string
	text string
	next string // the line of code that follows a comment
}

const (
	comment   = "comment"
	message   = "message"
	paragraph = "paragraph"
)

// hit is an avoided word in a text.
type hit struct {
	at            int
	word, instead string
}

var avoidedRE, quotedCode = compileAvoided(), regexp.MustCompile("`[^`\n]*`")

func compileAvoided() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(avoided))
	for i, a := range avoided {
		list[i] = regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(a.pattern, " ", `\s+`) + `)\b`)
	}
	return list
}

// hits finds the avoided words outside `code`.
func (x text) hits() (found []hit) {
	prose := x.text
	if x.kind != message {
		prose = quotedCode.ReplaceAllStringFunc(prose, func(s string) string { return strings.Repeat("`", len(s)) })
	}
	for i, re := range avoidedRE {
		for _, at := range re.FindAllStringIndex(prose, -1) {
			word := strings.Join(strings.Fields(prose[at[0]:at[1]]), " ")
			found = append(found, hit{at: at[0], word: word, instead: avoided[i].instead})
		}
	}
	return found
}

// around returns the words around a hit.
func (x text) around(at int) string {
	from, to := max(0, at-60), min(len(x.text), at+60)
	return strings.ToValidUTF8(strings.Join(strings.Fields(x.text[from:to]), " "), "")
}

// allowedWord is an entry of testdata/words_allowed.txt.
type allowedWord struct {
	line         int
	file, phrase string
}

// covers reports whether the entry allows a hit: its phrase contains the word and
// the text has the phrase there.
func (a allowedWord) covers(x text, h hit) bool {
	if ok, _ := path.Match(a.file, x.file); !ok {
		return false
	}
	words := strings.ToLower(strings.Join(strings.Fields(x.text), " "))
	at := len(strings.ToLower(strings.Join(strings.Fields(x.text[:h.at]+"|"), " "))) - 1
	for from := 0; ; {
		i := strings.Index(words[from:], a.phrase)
		if i < 0 {
			return false
		}
		i += from
		if i <= at && at+len(h.word) <= i+len(a.phrase) {
			return true
		}
		from = i + 1
	}
}

// readAllowed reads the entries: a file or pattern, a phrase, a reason.
func readAllowed(t *testing.T) (list []allowedWord) {
	t.Helper()
	b, err := os.ReadFile("testdata/words_allowed.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		if len(parts) != 3 || strings.TrimSpace(parts[2]) == "" {
			t.Fatalf("testdata/words_allowed.txt:%d: want \"file | phrase | reason\", not %q", i+1, line)
		}
		list = append(list, allowedWord{line: i + 1, file: strings.TrimSpace(parts[0]), phrase: strings.ToLower(strings.TrimSpace(parts[1]))})
	}
	return list
}

// readTexts returns the texts of the repository.
func readTexts(t *testing.T) (all []text) {
	t.Helper()
	tree, err := readTree("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tree.files {
		if name == "testcases/words_test.go" {
			continue
		}
		texts, err := textsIn(name, tree.text[name])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, texts...)
	}
	if len(all) < 1000 {
		t.Fatalf("only %d texts found", len(all))
	}
	return all
}

// pageScript matches the scripts of the page and of the canvases of this repository.
var pageScript = regexp.MustCompile(`^canvas/(?:web|provider/[^/]+)/(?:page|content)/[^/]+\.js$`)

// textsIn returns the texts of one file.
func textsIn(name, source string) ([]text, error) {
	switch base := path.Base(name); {
	case path.Ext(name) == ".go":
		return goTexts(name, source)
	case pageScript.MatchString(name):
		return scriptTexts(name, source), nil
	case base == "README.md" || base == "CONTRIBUTING.md" || base == "PROTOCOL.md":
		return paragraphs(name, source), nil
	}
	return nil, nil
}

// goTexts returns the comments of a Go file, and its errors and log messages.
func goTexts(name, source string) (texts []text, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(source, "\n")
	for _, group := range f.Comments {
		at, end := fset.Position(group.Pos()), fset.Position(group.End())
		x := text{file: name, line: at.Line, kind: comment, text: commentText(group)}
		if before := strings.TrimSpace(lines[at.Line-1][:at.Column-1]); before != "" {
			x.next = before
		} else if end.Line < len(lines) {
			x.next = strings.TrimSpace(lines[end.Line])
		}
		if strings.TrimSpace(x.text) != "" {
			texts = append(texts, x)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && isMessage(call) {
			for _, arg := range call.Args {
				texts = append(texts, literals(fset, name, arg)...)
			}
		}
		return true
	})
	return texts, nil
}

// commentText returns a comment without its markers and directives, line by line.
func commentText(group *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range group.List {
		switch {
		case strings.HasPrefix(c.Text, "//go:"), strings.HasPrefix(c.Text, "//lint:"):
		case strings.HasPrefix(c.Text, "//"):
			b.WriteString(c.Text[2:])
		default:
			b.WriteString(c.Text[2 : len(c.Text)-2])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// isMessage reports whether a call makes an error or logs.
func isMessage(call *ast.CallExpr) bool {
	var name, owner string
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); ok {
			owner = x.Name
		}
	}
	switch name {
	case "New":
		return owner == "errors"
	case "Errorf", "errorf", "Fatalf", "Fatal", "Error", "Logf", "Skip", "Skipf", "Info", "Warn", "Debug", "InfoContext", "WarnContext", "ErrorContext":
		return true
	}
	return false
}

// literals returns the string literals of an expression, but for those of function
// literals within it.
func literals(fset *token.FileSet, name string, e ast.Expr) (texts []text) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.CallExpr:
			return false
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				texts = append(texts, text{file: name, line: fset.Position(n.Pos()).Line, kind: message, text: s})
			}
		}
		return true
	})
	return texts
}

// scriptToken matches what a script's reader must tell apart: comments, strings,
// and the regular expressions that may have quotes in them.
var scriptToken = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|` + "`(?:\\\\.|[^`\\\\])*`" +
	`|[(,=:\[!&|?{};]\s*/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])*/`)

// scriptTexts returns the comments and strings of a script. Comments on adjacent
// lines are one text.
func scriptTexts(name, source string) (texts []text) {
	end := -1
	for _, at := range scriptToken.FindAllStringIndex(source, -1) {
		s := source[at[0]:at[1]]
		line := 1 + strings.Count(source[:at[0]], "\n")
		switch {
		case strings.HasPrefix(s, "//"):
			if end >= 0 && strings.TrimSpace(source[end:at[0]]) == "" && strings.Count(source[end:at[0]], "\n") == 1 {
				texts[len(texts)-1].text += "\n" + s[2:]
			} else {
				texts = append(texts, text{file: name, line: line, kind: comment, text: s[2:]})
			}
			end = at[1]
			continue
		case strings.HasPrefix(s, "/*"):
			body := regexp.MustCompile(`\n\s*\*`).ReplaceAllString(s[2:len(s)-2], "\n")
			texts = append(texts, text{file: name, line: line, kind: comment, text: body})
		case s[0] == '"' || s[0] == '\'' || s[0] == '`':
			texts = append(texts, text{file: name, line: line, kind: message, text: s[1 : len(s)-1]})
		}
		end = -1
	}
	return texts
}

// paragraphs returns the paragraphs of a document outside blocks of code.
func paragraphs(name, source string) (texts []text) {
	fenced, open := false, false
	for i, line := range strings.Split(source, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced, open = !fenced, false
			continue
		}
		switch {
		case fenced || strings.TrimSpace(line) == "":
			open = false
		case open:
			texts[len(texts)-1].text += "\n" + line
		default:
			texts = append(texts, text{file: name, line: i + 1, kind: paragraph, text: line})
			open = true
		}
	}
	return texts
}
