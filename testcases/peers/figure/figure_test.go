package figure

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestVerdict(t *testing.T) {
	for _, tc := range []struct {
		name string
		f    Figure
		want string
	}{
		{"no target", Figure{Ours: []float64{1}}, ""},
		{"absolute, below", Figure{Ours: []float64{10, 12, 11}, Target: Target{AtMost: 11}}, "ok"},
		{"absolute, above", Figure{Ours: []float64{10, 12, 12}, Target: Target{AtMost: 11}}, "MISSED"},
		{"ratio of each round, not of the medians", Figure{Peer: "p", Ours: []float64{1, 10, 100}, Theirs: []float64{1, 1, 100}, Target: Target{AtMost: 1}}, "ok"},
		{"at least", Figure{Peer: "p", Ours: []float64{3}, Theirs: []float64{1}, Target: Target{AtLeast: 4}}, "MISSED"},
		{"nothing measured", Figure{Target: Target{AtMost: 1}}, "MISSED"},
		{"only the peer has a value", Figure{Peer: "p", Theirs: []float64{1}, Target: Target{AtMost: 1}}, "MISSED"},
	} {
		if got := tc.f.Verdict(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0.301: "0.30", 3: "3", 4.126: "4.13", 12.34: "12.3", 999.6: "1000", 1234.5: "1,234", 3692000: "3,692,000", -12.34: "-12.3"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
	if number(math.NaN()) != "?" {
		t.Error("not a number is a number")
	}
}

func TestMedianAndQuantile(t *testing.T) {
	if m := Median([]float64{4, 1, 3, 2}); m != 2.5 {
		t.Errorf("median %v, want 2.5", m)
	}
	var d []time.Duration
	for i := range 100 {
		d = append(d, time.Duration(100-i)*time.Microsecond)
	}
	if q := Quantile(d, 0.99); q != 100 {
		t.Errorf("p99 %v, want 100", q)
	}
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	Markdown(&b, []Figure{{What: "fan-out", Unit: "deliveries/s", Peer: "nats", Ours: []float64{3000}, Theirs: []float64{1000}, Target: Target{AtLeast: 3}}})
	want := `| what    | ours               | theirs                  | ratio (range) | target       |    |
|---------|--------------------|-------------------------|---------------|--------------|----|
| fan-out | 3,000 deliveries/s | nats 1,000 deliveries/s | 3 x (3 - 3)   | at least 3 x | ok |
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
