package userdir

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// State returns the folder for what outlives a host: the XDG state home, or its
// equivalent on other systems.
func State(getenv func(string) string) (string, error) {
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
		return "", fmt.Errorf("no folder for state: %w; use --state DIR, or --state memory", err)
	}
	return filepath.Join(base, "ahp-canvas"), nil
}

// Runtime returns the folder for the endpoint files of running hosts.
func Runtime(getenv func(string) string) string {
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ahp-canvas")
	}
	return filepath.Join(os.TempDir(), "ahp-canvas-"+strconv.Itoa(os.Getuid()))
}

// Logs returns the folder, in the runtime folder, for the logs of the extensions that the
// host with a process id runs.
func Logs(runtimeDir string, pid int) string {
	return filepath.Join(runtimeDir, strconv.Itoa(pid)+".logs")
}

// Ensure makes a folder that only the user can enter. It checks an existing one,
// because in a folder for temporary files another user can have made it.
func Ensure(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return Check(dir)
}

// Check returns an error unless dir is a folder of the user that is closed to others.
func Check(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case !ownedByUser(info):
		return fmt.Errorf("%s belongs to another user, so secrets would not be safe in it", dir)
	case OpenToOthers(info):
		return fmt.Errorf("other users can open %s; run chmod 700 on it", dir)
	}
	return nil
}

// OpenToOthers reports whether the mode of a file or folder lets other users in. On
// Windows, where modes say nothing about that, it is false.
func OpenToOthers(info os.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}
