package conform

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// Status is how a case ended.
type Status string

// The ways in which a case can end.
const (
	Passed   Status = "passed"
	Failed   Status = "failed"   // a rule that MUST hold, or one that was asked for, does not
	Deviates Status = "deviates" // a rule that SHOULD hold does not: no failure
	Skipped  Status = "skipped"
)

// Result is how one case went.
type Result struct {
	Case   string        `json:"case"` // its file below transcripts/, without the ending
	Area   string        `json:"area"` // what it is counted under
	Title  string        `json:"title"`
	Level  string        `json:"level"` // MUST, SHOULD or OURS; "" where a kind of case has none
	Place  string        `json:"place"` // where the rule stands
	Status Status        `json:"status"`
	Reason string        `json:"reason,omitzero"` // why it was skipped
	Took   time.Duration `json:"-"`
	// Of a failure: the line of the transcript, what is wrong, what the line wants
	// and what came ("" where nothing did), and the last frames before it.
	Line     int      `json:"line,omitzero"`
	Problem  string   `json:"problem,omitzero"`
	Want     string   `json:"want,omitzero"`
	Have     string   `json:"have,omitzero"`
	Exchange []string `json:"exchange,omitzero"`
}

func newResult(t *testcases.Transcript) Result {
	area, _, inFolder := strings.Cut(t.Name, "/")
	if !inFolder {
		area = "files"
	}
	return Result{Case: t.Name, Area: area, Title: t.Meta["title"], Level: t.Level(), Place: t.Place()}
}

// Report is how all cases went, in the order in which they were played.
type Report struct {
	Host    Host
	Results []Result
	Took    time.Duration
}

// Count is how many cases ended in each way.
type Count struct {
	Cases    int `json:"cases"`
	Passed   int `json:"passed"`
	Failed   int `json:"failed"`
	Deviates int `json:"deviates"`
	Skipped  int `json:"skipped"`
}

func (c *Count) add(s Status) {
	c.Cases++
	switch s {
	case Passed:
		c.Passed++
	case Failed:
		c.Failed++
	case Deviates:
		c.Deviates++
	case Skipped:
		c.Skipped++
	}
}

// Count counts all results.
func (r *Report) Count() (c Count) {
	for _, result := range r.Results {
		c.add(result.Status)
	}
	return c
}

// AreaCount is the count of one area.
type AreaCount struct {
	Area string
	Count
	Took time.Duration
}

// Areas counts by area, in the order of the names.
func (r *Report) Areas() []AreaCount {
	var areas []AreaCount
	for _, result := range r.Results {
		i := slices.IndexFunc(areas, func(a AreaCount) bool { return a.Area == result.Area })
		if i < 0 {
			i = len(areas)
			areas = append(areas, AreaCount{Area: result.Area})
		}
		areas[i].add(result.Status)
		areas[i].Took += result.Took
	}
	slices.SortFunc(areas, func(a, b AreaCount) int { return strings.Compare(a.Area, b.Area) })
	return areas
}

// Reason is why cases were skipped, and how many were.
type Reason struct {
	Text  string `json:"reason"`
	Cases int    `json:"cases"`
}

// Skipped counts the reasons, the most frequent first.
func (r *Report) Skipped() []Reason {
	var reasons []Reason
	for _, result := range r.Results {
		if result.Status != Skipped {
			continue
		}
		i := slices.IndexFunc(reasons, func(x Reason) bool { return x.Text == result.Reason })
		if i < 0 {
			i = len(reasons)
			reasons = append(reasons, Reason{Text: result.Reason})
		}
		reasons[i].Cases++
	}
	slices.SortStableFunc(reasons, func(a, b Reason) int { return cmp.Compare(b.Cases, a.Cases) })
	return reasons
}
