// Package built builds ahp-canvas for the commands beside it, which run it.
//
// It imports nothing of the module.
package built

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Program builds the program of this module in a new folder, which remove deletes. What the
// compiler says goes to the standard error.
func Program(ctx context.Context) (path string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "ahp-canvas-build-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, "ahp-canvas")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		remove()
		return "", nil, fmt.Errorf("the program was not built: %w", err)
	}
	return path, remove, nil
}
