package conform

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// Status is the outcome of a case.
type Status string

// The outcomes of a case.
const (
	Passed   Status = "passed"   // as expected
	Failed   Status = "failed"   // violates a MUST, or a SHOULD under Options.Strict
	Deviates Status = "deviates" // violates a SHOULD; not a failure
	Skipped  Status = "skipped"  // was not played, see Result.Reason
)

// Result is the result of one case.
type Result struct {
	// Case is the transcript's file name in transcripts/, without extension.
	Case string `json:"case"`
	// Area groups the cases in reports.
	Area string `json:"area"`
	// Title is the transcript's title.
	Title string `json:"title"`
	// Level is MUST, SHOULD or OURS; "" for fixtures.
	Level string `json:"level"`
	// Place is the section that has the rule.
	Place string `json:"place"`
	// Status is the outcome.
	Status Status `json:"status"`
	// Reason is why the case was skipped.
	Reason string `json:"reason,omitzero"`
	// Took is the duration of the case.
	Took time.Duration `json:"-"`

	// Line is the transcript's line that failed.
	Line int `json:"line,omitzero"`
	// Problem describes the failure.
	Problem string `json:"problem,omitzero"`
	// Want is what the line expects; "" is nothing.
	Want string `json:"want,omitzero"`
	// Have is what the runner received; "" is nothing.
	Have string `json:"have,omitzero"`
	// Exchange has the last frames before the failure.
	Exchange []string `json:"exchange,omitzero"`
}

func newResult(t *testcases.Transcript) Result {
	area, _, inFolder := strings.Cut(t.Name, "/")
	if !inFolder {
		area = "files"
	}
	return Result{Case: t.Name, Area: area, Title: t.Meta["title"], Level: t.Level(), Place: t.Place()}
}

// Report holds the results of all cases.
type Report struct {
	// Host describes the tested host.
	Host Host
	// Results are in the order in which the cases were played.
	Results []Result
	// Took is the duration of the run.
	Took time.Duration
}

// Count counts cases by outcome.
type Count struct {
	Cases    int `json:"cases"`    // all cases
	Passed   int `json:"passed"`   // cases with Status Passed
	Failed   int `json:"failed"`   // cases with Status Failed
	Deviates int `json:"deviates"` // cases with Status Deviates
	Skipped  int `json:"skipped"`  // cases with Status Skipped
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

// AreaCount counts the cases of one area.
type AreaCount struct {
	Area  string        // the area's name
	Count               // its cases by outcome
	Took  time.Duration // the sum of their durations
}

// Areas counts by area, sorted by name.
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

// Reason is a reason for which cases were skipped, with their number.
type Reason struct {
	Text  string `json:"reason"` // the reason
	Cases int    `json:"cases"`  // how many cases were skipped for it
}

// Skipped counts the skipped cases by reason, the most frequent reason first.
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
