package conform_test

import (
	"bytes"
	"encoding/xml"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

func TestCheck(t *testing.T) {
	const state = `{"provider":"p","title":"T","status":1,"lifecycle":"ready","activeClients":[],"chats":[]}`
	dir := fstest.MapFS{}
	for name, text := range map[string]string{
		"good.json":             `{"description":"d","reducer":"session","initial":` + state + `,"actions":[{"type":"session/titleChanged","title":"N"}],"expected":` + strings.Replace(state, `"T"`, `"N"`, 1) + `}`,
		"bad.json":              `{"reducer":"session","initial":` + state + `,"actions":[],"expected":` + strings.Replace(state, `"T"`, `"N"`, 1) + `}`,
		"sub/null.json":         `{"reducer":"session","initial":` + state + `,"actions":[],"expected":` + strings.Replace(state, `{`, `{"x":null,`, 1) + `}`,
		"null-null-kept.json":   `{"reducer":"session","initial":` + state + `,"actions":[],"expected":` + strings.Replace(state, `{`, `{"x":null,`, 1) + `}`,
		"other-kind.json":       `{"reducer":"terminal","initial":{},"actions":[],"expected":{}}`,
		"half.json":             `{"reducer":"session","initial":{}}`,
		"trip.json":             `{"type":"Origin","input":{"clientId":"c","clientSeq":9007199254740993},"acceptableOutputs":[{"clientId":"c","clientSeq":9007199254740993}]}`,
		"trip-bad.json":         `{"type":"Origin","input":{"clientId":"c","clientSeq":1},"acceptableOutputs":[{"clientId":"c","clientSeq":1.0}]}`,
		"trip-type.json":        `{"type":"Nobody","input":{},"acceptableOutputs":[{}]}`,
		"broken.json":           `{`,
		"package.json":          `{"type":"module"}`,
		"node_modules/a/b.json": `{`,
		"notes.txt":             `{`,
	} {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	report, err := conform.Check(dir, conform.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]conform.Status{
		"good": conform.Passed, "bad": conform.Failed, "sub/null": conform.Passed, "null-null-kept": conform.Failed, "other-kind": conform.Skipped,
		"half": conform.Failed, "trip": conform.Passed, "trip-bad": conform.Failed, "trip-type": conform.Skipped, "broken": conform.Failed, "package": conform.Skipped,
	}
	for _, r := range report.Results {
		if r.Status != want[r.Case] || (r.Status == conform.Failed) != (r.Problem != "") || (r.Status == conform.Skipped) != (r.Reason != "") {
			t.Errorf("%+v, want %s", r, want[r.Case])
		}
		delete(want, r.Case)
	}
	if len(want) > 0 {
		t.Errorf("no result for %v", want)
	}
	strict, err := conform.Check(dir, conform.CheckOptions{Nulls: true})
	if err != nil || strict.Count().Failed != report.Count().Failed+1 {
		t.Errorf("with nulls distinguished: %+v, %v", strict.Count(), err)
	}
}

// This project's fixtures and the upstream ones pass.
func TestCheckPublished(t *testing.T) {
	for _, dir := range []string{filepath.Join("..", "reducers"), filepath.Join("..", "round-trips"), filepath.Join("..", "..", "..", "shared", "fixtures", "ahp")} {
		if _, err := os.Stat(dir); err != nil {
			t.Logf("%s is not next to this clone", dir)
			continue
		}
		report, err := conform.Check(os.DirFS(dir), conform.CheckOptions{})
		if err != nil || report.Count().Failed > 0 || report.Count().Passed == 0 {
			t.Errorf("%s: %+v, %v", dir, report.Count(), err)
		}
		t.Logf("%s: %+v", dir, report.Count())
	}
}

// FuzzCheck checks that every file, whatever its content, has a result.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"reducer":"canvas","initial":{},"actions":[{"type":"canvas/updated"}],"expected":{}}`))
	f.Add([]byte(`{"type":"StateAction","input":{"type":"x"},"acceptableOutputs":[{"type":"x"}]}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		report, err := conform.Check(fstest.MapFS{"x.json": &fstest.MapFile{Data: data, Mode: fs.ModePerm}}, conform.CheckOptions{})
		if err != nil || report.Count().Cases != 1 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

func TestJUnit(t *testing.T) {
	r := &conform.Report{Took: 1500 * time.Millisecond, Results: []conform.Result{
		{Case: "a/one", Area: "a", Status: conform.Passed, Took: time.Second},
		{Case: "a/two", Area: "a", Title: "T", Level: "MUST", Place: "x 1", Status: conform.Failed, Problem: "want <1>", Line: 3, Want: "1", Exchange: []string{"a> \x01"}},
		{Case: "b/three", Area: "b", Status: conform.Skipped, Reason: "no agent"},
		{Case: "b/four", Area: "b", Status: conform.Deviates, Problem: "p"},
	}}
	var b bytes.Buffer
	if err := r.WriteJUnit(&b, "name"); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Tests int    `xml:"tests,attr"`
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
				Out string `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if doc.Tests != 4 || doc.Failures != 1 || len(doc.Suites) != 2 || doc.Suites[0].Tests != 2 {
		t.Errorf("%+v", doc)
	}
	two, three, four := doc.Suites[0].Cases[1], doc.Suites[1].Cases[0], doc.Suites[1].Cases[1]
	if two.Failure == nil || two.Failure.Message != "want <1>" || !strings.Contains(two.Failure.Text, "line 3") || !strings.Contains(two.Failure.Text, "actual:   nothing") {
		t.Errorf("%+v", two)
	}
	if three.Skipped == nil || three.Skipped.Message != "no agent" || four.Failure != nil || !strings.Contains(four.Out, "deviates") {
		t.Errorf("%+v %+v", three, four)
	}
}
