package conform

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit XML, with one suite per area. JUnit has no
// status for a case that deviates: it passes and has its details as output.
func (r *Report) WriteJUnit(w io.Writer, name string) error {
	total := r.Count()
	doc := junitSuites{Name: name, Tests: total.Cases, Failures: total.Failed, Skipped: total.Skipped, Time: seconds(r.Took)}
	for _, a := range r.Areas() {
		suite := junitSuite{Name: a.Area, Tests: a.Cases, Failures: a.Failed, Skipped: a.Skipped, Time: seconds(a.Took)}
		for _, result := range r.Results {
			if result.Area == a.Area {
				suite.Cases = append(suite.Cases, result.junit())
			}
		}
		doc.Suites = append(doc.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (res Result) junit() junitCase {
	c := junitCase{Class: res.Area, Name: res.Case, Time: seconds(res.Took)}
	switch res.Status {
	case Failed:
		c.Failure = &junitMessage{res.Problem, res.detail()}
	case Skipped:
		c.Skipped = &junitMessage{Message: res.Reason}
	case Deviates:
		c.Out = "deviates from a SHOULD\n" + res.detail()
	}
	return c
}

// detail describes a failure as text.
func (res Result) detail() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nrule: %s\n", res.Title, strings.TrimSpace(res.Level+" "+res.Place))
	if res.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", res.Line)
	}
	fmt.Fprintf(&b, "%s\nexpected: %s\nactual:   %s\n", res.Problem, orNothing(res.Want), orNothing(res.Have))
	if len(res.Exchange) > 0 {
		fmt.Fprintf(&b, "the last frames:\n%s\n", strings.Join(res.Exchange, "\n"))
	}
	return b.String()
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
