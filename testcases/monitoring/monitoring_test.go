package monitoring

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v4"
)

const files = "../../cmd/ahp-canvas/packaging/monitoring/"

// family is a metric as programs publish it.
type family struct {
	kind   dto.MetricType
	labels map[string]bool
}

// TestExpressions checks the dashboard and the alerts against running programs.
func TestExpressions(t *testing.T) {
	known := published(t)
	all := append(dashboard(t), alerts(t)...)
	if len(all) < 60 {
		t.Errorf("found %d expressions", len(all))
	}
	for _, text := range all {
		for _, wrong := range check(text, known) {
			t.Errorf("%s: %s", text, wrong)
		}
	}
}

// TestCheck: each kind of mistake is found.
func TestCheck(t *testing.T) {
	known := map[string]family{
		"a_total":   {dto.MetricType_COUNTER, map[string]bool{"reason": true}},
		"b":         {dto.MetricType_GAUGE, nil},
		"c_seconds": {dto.MetricType_HISTOGRAM, nil},
	}
	for text, want := range map[string]string{
		`rate(a_total{reason="x",instance=~"y"}[5m])`:                       "",
		`sum by (job) (b) > 3`:                                              "",
		`histogram_quantile(0.9, sum by (le) (rate(c_seconds_bucket[5m])))`: "",
		`rate(a_total[5m]`:                                                  "parse",
		`absent_metric > 1`:                                                 "absent_metric",
		`rate(a_total{kind="x"}[5m])`:                                       "kind",
		`sum by (kind) (b)`:                                                 "kind",
		`a_total > 0`:                                                       "is a counter",
		`increase(b[5m])`:                                                   "is no counter",
		`rate(c_seconds[5m])`:                                               "c_seconds",
		`histogram_quantile(0.9, b)`:                                        "",
		`b > on (kind) group_left () b`:                                     "kind",
	} {
		got := strings.Join(check(text, known), "; ")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// check returns what is wrong with an expression.
func check(text string, known map[string]family) (wrong []string) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return []string{"parse: " + err.Error()}
	}
	parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			wrong = append(wrong, checkSelector(n, path, known)...)
		case *parser.AggregateExpr:
			wrong = append(wrong, checkLabels(n.Grouping, n.Expr, known)...)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				wrong = append(wrong, checkLabels(n.VectorMatching.MatchingLabels, n, known)...)
			}
		}
		return nil
	})
	return wrong
}

// always are labels that Prometheus adds.
var always = map[string]bool{"instance": true, "job": true, model.MetricNameLabel: true}

// find returns the family of a series.
func find(name string, known map[string]family) (family, bool) {
	if name == "up" { // of Prometheus itself
		return family{kind: dto.MetricType_GAUGE}, true
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		base, _ := strings.CutSuffix(name, suffix)
		if f, ok := known[base]; ok && base != name && f.kind == dto.MetricType_HISTOGRAM {
			labels := map[string]bool{"le": suffix == "_bucket"}
			maps.Copy(labels, f.labels)
			return family{dto.MetricType_COUNTER, labels}, true
		}
	}
	f, ok := known[name]
	return f, ok && f.kind != dto.MetricType_HISTOGRAM
}

func checkSelector(n *parser.VectorSelector, path []parser.Node, known map[string]family) (wrong []string) {
	f, ok := find(n.Name, known)
	if !ok {
		return []string{"no program publishes " + n.Name}
	}
	for _, m := range n.LabelMatchers {
		if !f.labels[m.Name] && !always[m.Name] {
			wrong = append(wrong, n.Name+" has no label "+m.Name)
		}
	}
	overTime := slices.ContainsFunc(path, func(above parser.Node) bool {
		call, ok := above.(*parser.Call)
		return ok && slices.Contains([]string{"rate", "increase", "irate"}, call.Func.Name)
	})
	switch {
	case f.kind == dto.MetricType_COUNTER && !overTime:
		wrong = append(wrong, n.Name+" is a counter, which says nothing without rate or increase")
	case f.kind != dto.MetricType_COUNTER && overTime:
		wrong = append(wrong, n.Name+" is no counter")
	}
	return wrong
}

// checkLabels checks labels by which series below a node are grouped or matched.
func checkLabels(labels []string, below parser.Node, known map[string]family) (wrong []string) {
	parser.Inspect(below, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			f, _ := find(s.Name, known)
			for _, label := range labels {
				if !f.labels[label] && !always[label] {
					wrong = append(wrong, s.Name+" has no label "+label)
				}
			}
		}
		return nil
	})
	return wrong
}

// dashboard returns the queries of the dashboard, with Grafana's variables replaced.
func dashboard(t *testing.T) (all []string) {
	t.Helper()
	var board any
	if err := json.Unmarshal(read(t, "dashboard.json"), &board); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$instance", ".*", "$relay", ".*")
	label := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)
	visit(board, "", func(member, text string) {
		switch member {
		case "expr":
			all = append(all, variables.Replace(text))
		case "definition":
			if m := label.FindStringSubmatch(text); m == nil {
				t.Errorf("the variable %q cannot be read", text)
			} else {
				all = append(all, "count by ("+m[2]+") ("+m[1]+")")
			}
		}
	})
	return all
}

func alerts(t *testing.T) (all []string) {
	t.Helper()
	var rules any
	if err := yaml.Unmarshal(read(t, "alerts.yaml"), &rules); err != nil {
		t.Fatal(err)
	}
	visit(rules, "", func(member, text string) {
		if member == "expr" {
			all = append(all, text)
		}
	})
	return all
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(files + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// visit calls fn for each text in a decoded file, with the name of its member.
func visit(v any, member string, fn func(member, text string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			visit(child, name, fn)
		}
	case []any:
		for _, child := range v {
			visit(child, member, fn)
		}
	case string:
		fn(member, v)
	}
}

// scrape reads the metrics at an address of --admin.
func scrape(t *testing.T, address string, into map[string]family) {
	t.Helper()
	resp, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	p := expfmt.NewTextParser(model.UTF8Validation)
	found, err := p.TextToMetricFamilies(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for name, mf := range found {
		f := family{mf.GetType(), map[string]bool{}}
		for _, m := range mf.Metric {
			for _, l := range m.Label {
				f.labels[l.GetName()] = true
			}
		}
		into[name] = f
	}
}

// exemplars returns how many exemplars a scraper of OpenMetrics receives.
func exemplars(t *testing.T, address string) int {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return len(regexp.MustCompile(`(?m)_bucket\{.*# \{trace_id="[0-9a-f]{32}"\}`).FindAll(text, -1))
}
