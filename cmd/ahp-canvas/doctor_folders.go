package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// folders checks the places that hold secrets.
func (d *doctor) folders() {
	if dir, err := stateFolder(d.getenv); err != nil {
		d.fail("state folder", err.Error(), "")
	} else if d.folder("state folder", dir) {
		d.stateFile(filepath.Join(dir, "host.json"))
	}
	dir := runtimeFolder(d.getenv)
	if d.folder("runtime folder", dir) {
		d.leftovers(dir)
	}
}

// folder reports whether the folder is there and fit to be used.
func (d *doctor) folder(check, dir string) bool {
	err := checkPrivate(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.ok(check, "%s is not there yet: the first host makes it", dir)
		return false
	case err != nil:
		d.fail(check, err.Error(), "No host starts until that is mended: its tokens would not be safe there.")
		return false
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.fail(check, plainPath(err), "Make the folder writable: chmod 700 "+dir)
		return false
	}
	f.Close()
	_ = os.Remove(f.Name()) // made just now
	d.ok(check, "%s is yours alone and writable", dir)
	return true
}

func (d *doctor) stateFile(name string) {
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var s state
	if err == nil {
		err = ahp.Unmarshal(data, &s)
	}
	if err != nil {
		d.fail("state file", name+" cannot be read: "+plainPath(err), "Remove it to begin anew; open pages need the new link then.")
		return
	}
	info, err := os.Lstat(name)
	if err == nil && info.Mode().Perm()&0o077 != 0 && !isWindows {
		d.fail("state file", name+" holds tokens and is open to other users", "Run chmod 600 on it, and remove it to get new tokens if others may have read it.")
		return
	}
	d.ok("state file", "%s holds the tokens and port %d", name, s.Port)
}

// leftovers removes the endpoint files of hosts that did not end by themselves.
func (d *doctor) leftovers(dir string) {
	before := endpointFiles(dir)
	hosts, err := running(dir)
	if err != nil {
		d.fail("endpoint files", plainPath(err), "")
		return
	}
	gone := before - endpointFiles(dir)
	switch {
	case gone > 0:
		d.warn("endpoint files", fmt.Sprintf("%d of running hosts; %d of hosts that were killed, now removed", len(hosts), gone), "")
	case before > len(hosts):
		d.warn("endpoint files", fmt.Sprintf("%d of running hosts; %d that cannot be read", len(hosts), before-len(hosts)),
			"They are of another version of ahp-canvas, or damaged: look into "+dir)
	case len(hosts) == 0:
		d.ok("endpoint files", "none, as no host runs")
	default:
		d.ok("endpoint files", "%d, each of a host that runs", len(hosts))
	}
}

func endpointFiles(dir string) int {
	n := 0
	entries, _ := os.ReadDir(dir) // running says what is wrong with it
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			n++
		}
	}
	return n
}

// plainPath is what is wrong with a file, without the name of the system call.
func plainPath(err error) string {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Path + ": " + e.Err.Error()
	}
	return err.Error()
}
