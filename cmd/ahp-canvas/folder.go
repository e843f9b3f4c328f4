package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// stateFolder is where the user's programs keep what outlives them: the XDG
// state home, or what takes its place on other systems.
func stateFolder(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ahp-canvas"), nil
	}
	var base string
	var err error
	switch runtime.GOOS {
	case "darwin":
		base, err = os.UserConfigDir()
	case "windows":
		base, err = os.UserCacheDir()
	default:
		base, err = os.UserHomeDir()
		base = filepath.Join(base, ".local", "state")
	}
	if err != nil {
		return "", fmt.Errorf("no place to keep state in: %w; give --state DIR, or --state memory", err)
	}
	return filepath.Join(base, "ahp-canvas"), nil
}

// runtimeFolder is where running hosts leave their endpoint files.
func runtimeFolder(getenv func(string) string) string {
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ahp-canvas")
	}
	return filepath.Join(os.TempDir(), "ahp-canvas-"+strconv.Itoa(os.Getuid()))
}

// ensurePrivate makes a folder that only its owner can enter, or checks that an
// existing one is such: in a folder for temporary files, anybody may have made
// it first.
func ensurePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return checkPrivate(dir)
}

func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", dir)
	case !ownedByUser(info):
		return fmt.Errorf("%s belongs to another user: secrets cannot be kept there", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is open to other users: run chmod 700 on it", dir)
	}
	return nil
}

// writePrivate replaces a file as a whole, readable by its owner alone. It is on disk
// before it takes the old one's place.
func writePrivate(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already after the rename
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
