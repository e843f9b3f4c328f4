package chart

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Result is the result of a query.
type Result struct {
	// Groups are the values along the axis.
	Groups []string `json:"groups"`
	// Series are the bars of one color, or the lines.
	Series []Series `json:"series"`
	// Rows is the number of rows that passed the filter.
	Rows int `json:"rows"`
}

// Series has a number for each group.
type Series struct {
	// Name is the value of Query.SplitBy, or the measure if the query does not split.
	Name string `json:"name"`
	// Values has the numbers by group; nil is a group without a number.
	Values []*float64 `json:"values"`
}

// result runs the query. It does not check the limits.
func (s State) result() Result {
	q := s.Query
	measure, _ := s.column(q.Measure, number) // the query fits
	group, _ := s.column(q.GroupBy, text)
	split, err := s.column(q.SplitBy, text)
	splits := err == nil
	r := Result{Groups: []string{}, Series: []Series{}}
	var groups, names index
	var sums [][]sum // by series and group
	for row := range s.Rows {
		if !s.matches(row) {
			continue
		}
		g, name := s.at(row, group), q.Measure
		if splits {
			name = s.at(row, split).text
		}
		n, at := names.of(name), groups.of(g.text)
		r.Rows++
		for len(sums) <= n {
			sums = append(sums, nil)
		}
		for len(sums[n]) <= at {
			sums[n] = append(sums[n], sum{})
		}
		sums[n][at].add(s.at(row, measure))
	}
	r.Groups = append(r.Groups, groups.names...)
	for n, name := range names.names {
		values := make([]*float64, len(r.Groups))
		for at, sum := range sums[n] {
			values[at] = sum.value(q.Aggregate)
		}
		r.Series = append(r.Series, Series{name, values})
	}
	r.sort(q.Sort)
	return r
}

// index numbers names in the order of their first use.
type index struct {
	names []string
	at    map[string]int
}

func (i *index) of(name string) int {
	if i.at == nil {
		i.at = map[string]int{}
	}
	n, ok := i.at[name]
	if !ok {
		n = len(i.names)
		i.at[name] = n
		i.names = append(i.names, name)
	}
	return n
}

// matches reports whether a row passes the filter.
func (s State) matches(row int) bool {
	for name, values := range s.Query.Filter {
		at, _ := s.column(name, text)
		if !slices.Contains(values, s.at(row, at).text) {
			return false
		}
	}
	return true
}

// sum accumulates the numbers of one bar or point.
type sum struct {
	n                        int
	total, smallest, largest float64
}

func (s *sum) add(c cell) {
	if c.empty {
		return
	}
	if s.n == 0 {
		s.smallest, s.largest = c.num, c.num
	}
	s.n++
	s.total += c.num
	s.smallest, s.largest = min(s.smallest, c.num), max(s.largest, c.num)
}

func (s sum) value(aggregate string) *float64 {
	if s.n == 0 {
		return nil
	}
	v := map[string]float64{
		"sum": s.total, "average": s.total / float64(s.n), "smallest": s.smallest, "largest": s.largest, "count": float64(s.n),
	}[aggregate]
	v = tidy(v, max(math.Abs(s.smallest), math.Abs(s.largest)))
	return &v
}

// tidy rounds off errors of binary fractions, so that 0.1+0.2 is 0.3. It keeps six
// digits after the point; if the largest number of the sum is below 1, six digits after
// that number's first one.
func tidy(v, largest float64) float64 {
	if math.Abs(v) >= 1e9 || largest == 0 {
		return v
	}
	digits := 6 + max(0, -int(math.Floor(math.Log10(largest))))
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', digits, 64), 64) // FormatFloat wrote it
	return r + 0                                                            // makes 0 of -0
}

// sort sorts the groups by the sums of their values.
func (r *Result) sort(by string) {
	if by == "data" {
		return
	}
	order := make([]int, len(r.Groups))
	total := make([]float64, len(r.Groups))
	for g := range r.Groups {
		order[g] = g
		for _, s := range r.Series {
			if s.Values[g] != nil {
				total[g] += *s.Values[g]
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if by == "largest" {
			a, b = b, a
		}
		return cmp.Compare(total[a], total[b])
	})
	groups := make([]string, len(order))
	for i, g := range order {
		groups[i] = r.Groups[g]
	}
	r.Groups = groups
	for n, s := range r.Series {
		values := make([]*float64, len(order))
		for i, g := range order {
			values[i] = s.Values[g]
		}
		r.Series[n].Values = values
	}
}

// checked returns an error if the chart exceeds a limit of what is drawn.
func (s State) checked() (State, error) {
	r := s.result()
	if n := len(r.Groups); n > MaxGroups {
		return s, canvas.Errorf(CodeFull, "column %q has %d groups, and a chart at most %d; filter, or group by another column", s.Query.GroupBy, n, MaxGroups)
	}
	if n := len(r.Series); n > MaxSeries {
		return s, canvas.Errorf(CodeFull, "column %q has %d values, and a chart at most %d series; filter, or split by another column", s.Query.SplitBy, n, MaxSeries)
	}
	if len(ahp.MustMarshal(s.data(r))) > MaxBytes || len(ahp.MustMarshal(s.drawing())) > MaxBytes {
		return s, canvas.Errorf(CodeFull, "a chart can have at most %d KiB; add up rows, or leave out columns", MaxBytes>>10)
	}
	return s, nil
}
