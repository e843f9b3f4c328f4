package chart

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Result is what a query comes to.
type Result struct {
	Groups []string `json:"groups"`
	Series []Series `json:"series"`
	Rows   int      `json:"rows"` // how many went into it
}

// Series is one row of bars, or one line.
type Series struct {
	Name   string     `json:"name"`   // of what it is split by; the measure where it is not
	Values []*float64 `json:"values"` // for each group; nil where there is no row
}

// result runs the query. It does not look at the limits.
func (s State) result() Result {
	q := s.Query
	measure, _ := s.column(q.Measure, number) // a query that is held fits
	group, _ := s.column(q.GroupBy, text)
	split, err := s.column(q.SplitBy, text)
	splits := err == nil
	r := Result{Groups: []string{}, Series: []Series{}}
	var groups, names index
	var sums [][]sum // by series and group
	for row := range s.Rows {
		if !s.kept(row) {
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

// index numbers names in the order in which they come.
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

// kept says whether a row passes the filter.
func (s State) kept(row int) bool {
	for name, values := range s.Query.Filter {
		at, _ := s.column(name, text)
		if !slices.Contains(values, s.at(row, at).text) {
			return false
		}
	}
	return true
}

// sum gathers the numbers of one bar or point.
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

// tidy takes away the dust of binary fractions, 0.1+0.2 is 0.3: what is left is six
// digits after the point, or after the first digit of what the largest number that
// went into it has there.
func tidy(v, largest float64) float64 {
	if math.Abs(v) >= 1e9 || largest == 0 {
		return v
	}
	digits := 6 + max(0, -int(math.Floor(math.Log10(largest))))
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', digits, 64), 64) // it was written as a number
	return r + 0                                                            // which makes 0 of -0
}

// sort orders groups by all that is drawn of them.
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

// checked holds a changed chart against the limits of what is drawn.
func (s State) checked() (State, error) {
	r := s.result()
	if n := len(r.Groups); n > MaxGroups {
		return s, canvas.Errorf(CodeFull, "%s has %d groups, a chart draws at most %d: filter, or group by another column", s.Query.GroupBy, n, MaxGroups)
	}
	if n := len(r.Series); n > MaxSeries {
		return s, canvas.Errorf(CodeFull, "%s has %d values, a chart draws at most %d series: filter, or split by another column", s.Query.SplitBy, n, MaxSeries)
	}
	if len(ahp.MustMarshal(s.data(r))) > MaxBytes || len(ahp.MustMarshal(s.drawing())) > MaxBytes {
		return s, canvas.Errorf(CodeFull, "a chart holds at most %d KiB: add rows up, or leave columns out", MaxBytes>>10)
	}
	return s, nil
}
