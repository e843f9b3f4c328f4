package schema_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// TestQuicktype checks that types which quicktype generates from the bundle,
// for Go and Python, read every valid value of the fixtures and every valid
// message of a client. README.md describes what they flatten; "same" counts the
// values that they write unchanged. They cannot read numbers that their types
// do not hold: ids written as 1.0, 1e3 or with 30 digits, and in Go 1e400.
func TestQuicktype(t *testing.T) {
	tools(t)
	var checks []check
	for _, c := range fixtureChecks(t) {
		if c.Valid {
			checks = append(checks, c)
		}
	}
	frames, _ := transcriptFrames(t)
	for _, s := range frames {
		if s.json && message(s.frame, ahp.ClientToHost) {
			checks = append(checks, check{Name: s.name, Schema: s.clientSchema(), Value: s.text})
		}
	}
	in := write(t, map[string]any{"cases": checks})
	t.Run("go", func(t *testing.T) {
		dir := t.TempDir()
		generated := quicktype(t, "go", filepath.Join(dir, "types.go"), "--package", "main")
		goProgram(t, dir, generated)
		cmd := exec.CommandContext(t.Context(), "go", "run", ".", in)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		out, err := cmd.Output()
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go run: %v\n%s", err, failed.Stderr)
		}
		report(t, out, "cannot unmarshal number 1e400")
	})
	t.Run("python", func(t *testing.T) {
		if _, err := exec.LookPath("python3"); err != nil && os.Getenv("CI") != "true" {
			t.Skip("NOT PROVEN: there is no python3 here")
		}
		file := filepath.Join(t.TempDir(), "generated.py")
		quicktype(t, "python", file, "--python-version", "3.7")
		report(t, run(t, "python3", "quicktype.py", file, in))
	})
}

// quicktype generates types for every definition of the bundle and returns
// them.
func quicktype(t *testing.T, language, file string, options ...string) string {
	t.Helper()
	args := append([]string{"node_modules/quicktype/dist/index.js", "--quiet", "--telemetry", "disable", "--src-lang", "schema", "--lang", language, "-o", file}, options...)
	run(t, "node", append(args, "--src", "../bundle.json#/$defs/")...)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var reader = regexp.MustCompile(`(?m)^func Unmarshal(\w+)\(data \[\]byte\)`)

// goProgram writes a program that reads each value as the type of its schema.
func goProgram(t *testing.T, dir, generated string) {
	t.Helper()
	var readers strings.Builder
	for _, m := range reader.FindAllStringSubmatch(generated, -1) {
		fmt.Fprintf(&readers, "\t%q: func(b []byte) ([]byte, error) { v, err := Unmarshal%s(b); if err != nil { return nil, err }; return v.Marshal() },\n", strings.ToLower(m[1]), m[1])
	}
	program := strings.Replace(goMain, "READERS", readers.String(), 1)
	for name, text := range map[string]string{"main.go": program, "go.mod": "module generated\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const goMain = `package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
)

var readers = map[string]func([]byte) ([]byte, error){
READERS}

func main() {
	var in struct {
		Cases []struct {
			Name, Schema string
			Value        json.RawMessage
		}
	}
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	if err != nil {
		panic(err)
	}
	same, wrong := 0, []string{}
	for _, c := range in.Cases {
		read := readers[strings.ToLower(c.Schema)]
		if read == nil {
			wrong = append(wrong, "no type for "+c.Schema)
			continue
		}
		out, err := read(c.Value)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %s: %v", c.Name, c.Schema, err))
			continue
		}
		var a, b any
		_, _ = json.Unmarshal(c.Value, &a), json.Unmarshal(out, &b)
		if reflect.DeepEqual(a, b) {
			same++
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"cases": len(in.Cases), "same": same, "wrong": wrong})
}
`
