package schema_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTypeScript checks that typescript/ahp.ts is json-schema-to-typescript's
// output for the bundle, and that under tsc --strict every union narrows by its
// tag.
func TestTypeScript(t *testing.T) {
	tools(t)
	dir := t.TempDir()
	fresh := filepath.Join(dir, "ahp.ts")
	run(t, "node", "typescript.mjs", fresh)
	got, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("typescript/ahp.ts")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("typescript/ahp.ts is stale: run go generate ./schema (%s)", cmp.Diff(string(want), string(got)))
	}
	for name, text := range map[string][]byte{
		"unions.ts":     run(t, "node", "unions.mjs", "./ahp.js"),
		"tsconfig.json": []byte(`{"compilerOptions":{"strict":true,"noEmit":true,"target":"es2022","module":"nodenext","types":[]},"files":["unions.ts"]}`),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "node", "node_modules/typescript/bin/tsc", "-p", dir)
}
