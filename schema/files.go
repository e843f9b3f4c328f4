package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/schema/internal/codegen"
)

// ID returns the $id of a file. It is an identifier and need not resolve. Its
// version is the newest protocol version in the tables.
func ID(file string) string {
	return fmt.Sprintf("https://github.com/ahp-canvas/ahp-canvas/schema/%s/%s.json", ahp.V0_6_0, file)
}

// titles are the generated schema files, in the order in which they are made.
var titles = []struct{ file, title string }{
	{"state", "AHP with Canvas: the states of the channels"},
	{"actions", "AHP with Canvas: the actions"},
	{"errors", "AHP with Canvas: errors"},
	{"notifications", "AHP with Canvas: notifications"},
	{"commands", "AHP with Canvas: requests and responses"},
	{"bridge", "AHP with Canvas: HTTP over canvas/message (http/1)"},
}

// onNull is the description of each file.
const onNull = "Says what a sender writes. In messages of clients this host also reads null as an absent optional member, and as an empty list in a required one (ahp/PROTOCOL.md section 1)."

// Generate returns the generated files of this folder by name. It reads the
// tables, and the comments in the sources below root, the module's folder.
func Generate(root string) (map[string][]byte, error) {
	g, err := collect(root)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{"REFERENCE.md": g.reference()}
	for _, f := range titles {
		if out[f.file+".json"], err = g.render(f.file, f.title); err != nil {
			return nil, err
		}
	}
	if out["bundle.json"], err = g.render("", "AHP with Canvas: everything in one file"); err != nil {
		return nil, err
	}
	for name, write := range map[string]func(map[string]*node) ([]byte, error){
		"rust/ahp.rs": codegen.Rust, "kotlin/Ahp.kt": codegen.Kotlin, "swift/AHP.swift": codegen.Swift,
	} {
		if out[name], err = write(g.defs); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

func collect(root string) (*generator, error) {
	src, err := readSource(root)
	if err != nil {
		return nil, err
	}
	g := newGenerator(src)
	g.build()
	bridge, err := os.ReadFile(filepath.Join(root, "canvas", "bridge", "schema.json"))
	if err != nil {
		return nil, err
	}
	if err := g.bridge(bridge); err != nil {
		return nil, fmt.Errorf("canvas/bridge/schema.json: %w", err)
	}
	if unused := g.unused(); len(unused) > 0 {
		return nil, fmt.Errorf("these rules match no definition or member: %s", strings.Join(unused, ", "))
	}
	return g, nil
}

var reference = regexp.MustCompile(`"\$ref": "#/\$defs/([A-Za-z0-9]+)"`)

// render writes the definitions of one file, or of all files if file is "". A
// reference to a definition in another file is relative to $id.
func (g *generator) render(file, title string) ([]byte, error) {
	doc := &node{Version: jsonschema.Version, ID: jsonschema.ID(ID(file)), Title: title, Description: onNull, Definitions: jsonschema.Definitions{}}
	if file == "" {
		doc.ID = jsonschema.ID(ID("bundle"))
	}
	for name, s := range g.defs {
		if file == "" || g.home[name] == file {
			doc.Definitions[name] = s
		}
	}
	text, err := indent(doc)
	if err != nil {
		return nil, err
	}
	var dangling []error
	text = reference.ReplaceAllFunc(text, func(m []byte) []byte {
		name := string(reference.FindSubmatch(m)[1])
		switch home := g.home[name]; {
		case home == "":
			dangling = append(dangling, fmt.Errorf("no definition %q", name))
		case file != "" && home != file:
			return fmt.Appendf(nil, `"$ref": "%s.json#/$defs/%s"`, home, name)
		}
		return m
	})
	return text, errors.Join(dangling...)
}

// indent writes indented JSON. It undoes the library's escaping for HTML.
func indent(v any) ([]byte, error) {
	compact, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, compact, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(b.String())), nil
}
