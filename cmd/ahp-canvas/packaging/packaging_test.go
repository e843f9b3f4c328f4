package packaging

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.yaml.in/yaml/v4"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/relay"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/serve"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// root is the repository, in which goreleaser runs.
const root = "../../.."

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func yamlFile(t *testing.T, name string) (v map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text(t, name)), &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
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

// TestReleaseFiles checks that each file of the configuration exists. Those in dist/prepared are
// what prepare.sh writes.
func TestReleaseFiles(t *testing.T) {
	t.Parallel()
	const here = "cmd/ahp-canvas/packaging/"
	written := map[string]bool{"dist/prepared/THIRD_PARTY_LICENSES.txt": true, "dist/prepared/SIZES.txt": true, "dist/prepared/man/*.1": true, "dist/prepared/man.gz/*.1.gz": true, "dist/prepared/completions/*": true}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		written["dist/prepared/completions/ahp-canvas."+shell] = true
	}
	prepare := text(t, "prepare.sh")
	found := 0
	visit(yamlFile(t, "goreleaser.yaml"), "", func(member, name string) {
		if !slices.Contains([]string{"src", "glob", "main", "postinstall", "preremove", "postremove"}, member) {
			return
		}
		found++
		if own, ok := strings.CutPrefix(name, here); ok && written[own] {
			if part := strings.TrimPrefix(filepath.Dir(own)+"/", "dist/prepared"); !strings.Contains(prepare, `$out"`+part) && !strings.Contains(prepare, `$out`+part) {
				t.Errorf("prepare.sh does not write %s", name)
			}
			return
		}
		if files, err := filepath.Glob(filepath.Join(root, name)); err != nil || len(files) == 0 {
			t.Errorf("%s: %s does not exist: %v", member, name, err)
		}
	})
	if found < 25 {
		t.Errorf("found %d files", found)
	}
	for _, name := range []string{"prepare.sh", "try.sh", "fresh/try.sh", "fresh/boot.sh", "compare.sh", "debian/postinstall.sh", "debian/preremove.sh", "debian/postremove.sh"} {
		if !strings.HasPrefix(text(t, name), "#!/bin/sh\n") {
			t.Errorf("%s does not begin as a script", name)
		}
	}
}

// TestPackagedUnits checks that the program is where the units expect it, and that their
// environment files are those of the packages.
func TestPackagedUnits(t *testing.T) {
	t.Parallel()
	packed := map[string]bool{"/usr/bin/ahp-canvas": true}
	visit(yamlFile(t, "goreleaser.yaml"), "", func(member, name string) {
		if member == "dst" {
			packed[name] = true
		}
	})
	for _, unit := range []string{"ahp-canvas.service", "ahp-canvas-relay.service"} {
		for _, m := range regexp.MustCompile(`(?m)^(?:ExecStart|EnvironmentFile)=-?(\S+)`).FindAllStringSubmatch(text(t, "systemd/"+unit), -1) {
			if !packed[m[1]] {
				t.Errorf("%s uses %s, which no package has", unit, m[1])
			}
		}
		if !packed["/usr/lib/systemd/system/"+unit] {
			t.Errorf("no package has %s", unit)
		}
	}
}

// TestDocumentedInstallation checks that fresh/try.sh runs each command that the
// documentation gives for the service.
func TestDocumentedInstallation(t *testing.T) {
	t.Parallel()
	script, found := strings.Split(text(t, "fresh/try.sh"), "\n"), 0
	for line := range strings.Lines(text(t, "../internal/docs/pages/operate.md")) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "sudo ") {
			continue
		}
		found++
		if !slices.ContainsFunc(script, func(s string) bool { return strings.Contains(s, line) }) {
			t.Errorf("fresh/try.sh does not run %q", line)
		}
	}
	if found < 12 {
		t.Errorf("found %d commands", found)
	}
}

// metrics returns what hosts and relays publish.
func metrics(t *testing.T) map[string]bool {
	t.Helper()
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
	}
	for _, d := range append(serve.Metrics(), relay.Metrics()...) {
		names[d.Name] = true
	}
	return names
}

var metricName = regexp.MustCompile(`\b(?:ahp|go|process)_\w+`)

// TestMonitoring checks that each metric in the dashboard and the alerts exists, that the
// dashboard shows each of ours, and that the documentation has a line for each alert.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	have, used := metrics(t), map[string]bool{}
	var board map[string]any
	if err := json.Unmarshal([]byte(text(t, "monitoring/dashboard.json")), &board); err != nil {
		t.Fatal(err)
	}
	collect := func(member, text string) {
		if !slices.Contains([]string{"expr", "query", "definition"}, member) {
			return
		}
		for _, name := range metricName.FindAllString(text, -1) {
			if bucket, ok := strings.CutSuffix(name, "_bucket"); ok { // of a histogram
				name = bucket
			}
			if used[name] = true; !have[name] {
				t.Errorf("%q: there is no metric %s", text, name)
			}
		}
	}
	visit(board, "", collect)
	for name := range have {
		if strings.HasPrefix(name, "ahp_") && !used[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
	alerts, runbooks := 0, text(t, "../internal/docs/pages/operate.md")
	visit(yamlFile(t, "monitoring/alerts.yaml"), "", func(member, text string) {
		collect(member, text)
		if member == "alert" {
			if alerts++; !regexp.MustCompile(`- \*\*[^*]*\b` + text + `\b`).MatchString(runbooks) {
				t.Errorf("operate.md does not say what to do about %s", text)
			}
		}
	})
	if alerts < 10 {
		t.Errorf("found %d alerts", alerts)
	}
}

// TestContainerFiles checks that the container files start the program with flags that it
// has, and as a user without rights.
func TestContainerFiles(t *testing.T) {
	t.Parallel()
	docker := text(t, "container/Dockerfile")
	for _, want := range []string{"USER nonroot", "VOLUME /state", "HEALTHCHECK ", "distroless/static", "CGO_ENABLED=0"} {
		if !strings.Contains(docker, want) {
			t.Errorf("the Dockerfile has no %s", want)
		}
	}
	module := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(text(t, root+"/go.mod"))
	if !strings.Contains(docker, "FROM golang:"+module[1]+" ") {
		t.Errorf("the Dockerfile does not build with Go %s", module[1])
	}
	var lines [][]string
	_, cmd, _ := strings.Cut(docker, "\nCMD ")
	var words []string
	if err := json.Unmarshal([]byte(cmd), &words); err != nil {
		t.Fatal(err)
	}
	lines = append(lines, words)
	for _, service := range yamlFile(t, "container/compose.yaml")["services"].(map[string]any) {
		words = nil
		for _, word := range service.(map[string]any)["command"].([]any) {
			words = append(words, regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllString(word.(string), "name.example"))
		}
		lines = append(lines, words)
	}
	for _, words := range lines {
		cmd := serve.Command(&term.Env{})
		if words[0] == "relay" {
			cmd = relay.Command(&term.Env{})
		}
		if err := cmd.ParseFlags(words[1:]); err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
	if len(lines) != 3 {
		t.Errorf("%d command lines", len(lines))
	}
}

// TestLaunchd checks that the property list is one, and starts serve.
func TestLaunchd(t *testing.T) {
	t.Parallel()
	var list struct {
		XMLName xml.Name `xml:"plist"`
		Version string   `xml:"version,attr"`
		Value   property `xml:",any"`
	}
	if err := xml.Unmarshal([]byte(text(t, "launchd/ahp-canvas.plist")), &list); err != nil {
		t.Fatal(err)
	}
	if list.Version != "1.0" || list.Value.XMLName.Local != "dict" {
		t.Errorf("version %q with a %s", list.Version, list.Value.XMLName.Local)
	}
	list.Value.check(t)
	values := list.Value.Children
	at := slices.IndexFunc(values, func(p property) bool { return p.Text == "ProgramArguments" })
	if at < 0 || len(values[at+1].Children) != 2 || values[at+1].Children[1].Text != "serve" {
		t.Error("it does not start serve")
	}
}

// property is a value of a property list.
type property struct {
	XMLName  xml.Name
	Text     string     `xml:",chardata"`
	Children []property `xml:",any"`
}

// check applies the rules of Apple's document type, for the elements that launchd needs.
func (p property) check(t *testing.T) {
	t.Helper()
	kind := p.XMLName.Local
	if !slices.Contains([]string{"dict", "array", "key", "string", "integer", "true", "false"}, kind) {
		t.Errorf("there is no element %s", kind)
	}
	if _, err := strconv.Atoi(p.Text); kind == "integer" && err != nil {
		t.Error(err)
	}
	if kind == "dict" && len(p.Children)%2 != 0 || kind != "dict" && kind != "array" && len(p.Children) > 0 {
		t.Errorf("%s has %d elements", kind, len(p.Children))
	}
	for i, child := range p.Children {
		if isKey := child.XMLName.Local == "key"; isKey != (kind == "dict" && i%2 == 0) {
			t.Errorf("the element %d of %s is a %s", i, kind, child.XMLName.Local)
		}
		child.check(t)
	}
}
