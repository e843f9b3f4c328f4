package bridgecanvas

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/folder"
)

// LintFolder returns the problems of a folder as [folder.Lint] does, and those of its
// actions.json: everything for which OpenFolder fails. A folder without one has only the
// former.
func LintFolder(dir string) ([]folder.Finding, error) {
	found, err := folder.Lint(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	raw, _, err := readActions(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found, nil
	case err != nil:
		found = append(found, finding(0, err.Error(), "Check the file and its permissions."))
	default:
		found = append(found, lintActions(root, raw)...)
	}
	if _, err := root.Stat(folder.ManifestName); err == nil {
		found = append(found, finding(0, fmt.Sprintf("the folder also has %s; both declare the canvas's actions", folder.ManifestName), "Remove one of them."))
	}
	slices.SortStableFunc(found, func(a, b folder.Finding) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return found, nil
}

func lintActions(root *os.Root, raw []byte) (found []folder.Finding) {
	const fix = "Correct it; otherwise the host does not offer the folder."
	d, err := describe(root, raw)
	if err == nil {
		err = declarable(d.declaration("lint", "Lint", ""))
	}
	if invalid, ok := errors.AsType[*faulty](err); ok {
		for _, one := range invalid.faults {
			found = append(found, finding(invalid.line(one), cmp.Or(one.Path, "/")+": "+one.Text, fix))
		}
	} else if err != nil {
		found = append(found, finding(folder.Line(raw, "/tools"), "/tools: "+err.Error(), fix))
	}
	return found
}

func finding(line int, text, fix string) folder.Finding {
	return folder.Finding{File: ActionsFile, Line: line, Severity: folder.SeverityError, Text: text, Fix: fix}
}
