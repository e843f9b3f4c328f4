package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// crates is where Debian's packages put the sources of Rust crates.
const crates = "/usr/share/cargo/registry"

// TestRust compiles rust/ahp.rs with the crates of Debian, and reads and writes every
// round-trip with it. The types keep unknown members everywhere.
func TestRust(t *testing.T) {
	needRust(t)
	trips, err := testcases.RoundTrips()
	if err != nil {
		t.Fatal(err)
	}
	types, err := os.ReadFile("rust/ahp.rs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Cargo.toml": rustManifest, "src/ahp.rs": string(types), "src/main.rs": rustProgram(string(types), trips),
		".cargo/config.toml": "[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = \"" + crates + "\"\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var in strings.Builder
	for _, c := range trips {
		fmt.Fprintf(&in, "%s\n%s\n", c.Type, compact(t, c.Input))
	}
	cmd := exec.CommandContext(t.Context(), "cargo", "run", "--quiet", "--offline")
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, strings.NewReader(in.String()), os.Stderr
	cmd.Env = append(os.Environ(), "CARGO_TARGET_DIR="+filepath.Join(dir, "target"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(trips) {
		t.Fatalf("%d answers to %d round-trips", len(lines), len(trips))
	}
	for i, c := range trips {
		if have, want := ahp.Value(lines[i]), c.Want(true); !ahp.Equal(have, want) {
			t.Errorf("%s: want %s\nhave %s", c.File, want, have)
		}
	}
}

// needRust skips a test if there is no Rust, or none of the crates. The gate has both.
func needRust(t *testing.T) {
	t.Helper()
	missing := ""
	if _, err := exec.LookPath("cargo"); err != nil {
		missing = "cargo"
	} else if found, _ := filepath.Glob(crates + "/serde_json-*"); found == nil {
		missing = "Debian's package librust-serde-json-dev"
	}
	switch {
	case missing == "":
	case os.Getenv("CI") == "true":
		t.Fatalf("there is no %s", missing)
	default:
		t.Skipf("NOT PROVEN: there is no %s here", missing)
	}
}

const rustManifest = `[package]
name = "roundtrip"
version = "0.0.0"
edition = "2021"

[dependencies]
serde = "1"
serde_json = { version = "1", features = ["arbitrary_precision"] }

[profile.dev]
debug = false
incremental = false
`

var rustType = regexp.MustCompile(`(?m)^pub (?:struct|enum|type) (\w+)`)

// rustProgram reads a type and a value on two lines, and writes the value.
func rustProgram(types string, trips []testcases.RoundTripCase) string {
	used := map[string]bool{}
	for _, c := range trips {
		used[c.Type] = true
	}
	var arms strings.Builder
	for _, m := range rustType.FindAllStringSubmatch(types, -1) {
		if !used[m[1]] {
			continue
		}
		fmt.Fprintf(&arms, "        %q => trip::<ahp::%s>(text),\n", m[1], m[1])
	}
	return strings.Replace(rustMain, "ARMS", arms.String(), 1)
}

const rustMain = `mod ahp;

use serde::{de::DeserializeOwned, Serialize};
use std::io::BufRead;

fn trip<T: DeserializeOwned + Serialize>(text: &str) -> Result<String, serde_json::Error> {
    let first = serde_json::to_string(&serde_json::from_str::<T>(text)?)?;
    let second = serde_json::to_string(&serde_json::from_str::<T>(&first)?)?;
    assert_eq!(first, second);
    Ok(first)
}

/// The union that has the tag of an action.
fn action(text: &str) -> Result<String, serde_json::Error> {
    use ahp::{CanvasAction, RootAction, SessionAction};
    if !matches!(serde_json::from_str(text)?, RootAction::Unknown(_)) {
        return trip::<RootAction>(text);
    }
    if !matches!(serde_json::from_str(text)?, CanvasAction::Unknown(_)) {
        return trip::<CanvasAction>(text);
    }
    trip::<SessionAction>(text)
}

fn round_trip(name: &str, text: &str) -> Result<String, serde_json::Error> {
    match name {
        "StateAction" => action(text),
        "Customization" => trip::<serde_json::Value>(text),
ARMS        _ => panic!("no type {name}"),
    }
}

fn main() {
    let lines: Vec<String> = std::io::stdin().lock().lines().map(Result::unwrap).collect();
    for pair in lines.chunks(2) {
        match round_trip(&pair[0], &pair[1]) {
            Ok(text) => println!("{text}"),
            Err(err) => println!("{:?}", format!("{}: {err}", pair[0])),
        }
    }
}
`

// compact writes JSON on one line, with the digits of its numbers.
func compact(t *testing.T, v ahp.Value) string {
	t.Helper()
	b, err := json.Marshal(json.RawMessage(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
