package testcases

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

func transcripts(t *testing.T) []*Transcript {
	t.Helper()
	all, err := Transcripts()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no transcripts")
	}
	return all
}

// source matches the beginning of a rule: its level, and a section of a
// document.
var source = regexp.MustCompile(`^(MUST|SHOULD|OURS) ((ahp|canvas|canvas/bridge)/PROTOCOL\.md section|#297) [0-9a-z]`)

// TestTranscriptFiles checks the format of the files: a mistake in one must not
// look like a fault of a host.
func TestTranscriptFiles(t *testing.T) {
	titles := map[string]string{}
	for _, tr := range transcripts(t) {
		title := tr.Meta["title"]
		if other, taken := titles[title]; taken {
			t.Errorf("%s and %s have the title %q", other, tr.Name, title)
		}
		titles[title] = tr.Name
		if !source.MatchString(tr.Meta["rule"]) {
			t.Errorf("%s: rule %q: want MUST, SHOULD or OURS, a document and a place in it", tr.Name, tr.Meta["rule"])
		}
		if !strings.Contains(tr.Name, "/") {
			t.Errorf("%s is not in a folder", tr.Name)
		}
		if err := lint(tr); err != nil {
			t.Errorf("%s: %v", tr.Name, err)
		}
	}
}

// lint finds steps that no host can satisfy.
func lint(tr *Transcript) error {
	open := map[string]bool{"a": true}
	calls, expects := 0, 0
	for _, s := range tr.Steps {
		err := error(nil)
		switch s.Op {
		case OpSend, OpSilence, OpClosed:
			expects++
		case OpExpect, OpAgentValue, OpAgentError:
			expects++
			if !ahp.Value(s.Text).IsValid() {
				err = fmt.Errorf("the expectation is not JSON")
			}
		case OpOpen:
			open[s.Conn] = true
		case OpAgentCall:
			tool, args, _ := strings.Cut(s.Text, " ")
			if tool == "" || !ahp.Value(placeholder.ReplaceAllString(args, "0")).IsValid() {
				err = fmt.Errorf("want a tool and its arguments as JSON")
			}
		}
		if s.Conn != "" && !open[s.Conn] {
			err = fmt.Errorf("connection %s is not open", s.Conn)
		}
		if s.Op == OpCut || s.Op == OpClose {
			delete(open, s.Conn)
		}
		calls += pending(s.Op)
		if calls < 0 || calls > 1 {
			err = fmt.Errorf("%d calls of the agent are in progress; want at most one", calls)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", s.Line, err)
		}
	}
	if calls != 0 || expects == 0 {
		return fmt.Errorf("%d calls of the agent without a result, %d expectations", calls, expects)
	}
	return nil
}

// pending returns how a step changes the number of the agent's calls in
// progress.
func pending(op Op) int {
	switch op {
	case OpAgentCall:
		return 1
	case OpAgentValue, OpAgentError:
		return -1
	}
	return 0
}

const head = "# title: t\n# rule: MUST canvas/PROTOCOL.md section 1\n"

func TestParseTranscript(t *testing.T) {
	tr, err := ParseTranscript("x", head+`
# a comment: with a colon
> {"a":1}
b< {"b":2}
<!
c<close 1009
open b token=agent client=x
cut b
close c
@ 1m30s
agent> open_canvas {"canvasId":"x"}
agent< {"v":1}
agent<error {"code":"x"}
host gone demo
# late: no meta`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range tr.Steps {
		got = append(got, fmt.Sprintf("%d %d %s|%s|%s", s.Line, s.Op, s.Conn, s.Text, s.Wait))
	}
	want := []string{
		`5 0 a|{"a":1}|0s`, `6 1 b|{"b":2}|0s`, `7 2 a||0s`, `8 3 c|1009|0s`, `9 5 b|token=agent client=x|0s`, `10 6 b||0s`,
		`11 7 c||0s`, `12 8 ||1m30s`, `13 9 |open_canvas {"canvasId":"x"}|0s`, `14 10 |{"v":1}|0s`, `15 11 |{"code":"x"}|0s`, `16 12 |gone demo|0s`,
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	if tr.Meta["title"] != "t" || tr.Meta["late"] != "" {
		t.Errorf("meta %v", tr.Meta)
	}
}

func TestParseTranscriptRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"> {}", "needs a '# title:'"},
		{"# title: t\n> {}", "needs a '# title:'"},
		{"> {}\n" + head, "needs a '# title:'"},
		{head + "hello", `x:3: unknown step "hello"`},
		{head + "a<>b", "x:3: unknown step"},
		{head + "<close soon", "x:3: close code"},
		{head + "@ soon", "x:3: "},
		{head + "@", "x:3: "},
	} {
		if _, err := ParseTranscript("x", tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q", tt.text, err, tt.want)
		}
	}
}

func FuzzParseTranscript(f *testing.F) {
	all, err := Transcripts()
	if err != nil {
		f.Fatal(err)
	}
	for _, tr := range all[:min(8, len(all))] {
		data, err := transcriptFiles.ReadFile("transcripts/" + tr.Name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add(head + "> \"\\xff\"\n@ -1h\nopen\nagent>\n<")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := ParseTranscript("x", text)
		if err != nil {
			return
		}
		line := 0
		for _, s := range tr.Steps {
			if s.Line <= line {
				t.Fatalf("line %d after line %d", s.Line, line)
			}
			line = s.Line
		}
		_ = lint(tr)
	})
}
