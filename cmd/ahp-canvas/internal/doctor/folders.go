package doctor

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/statedir"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/userdir"
)

// checkFolders checks the places that hold secrets.
func (d *doctor) checkFolders() {
	if dir, err := userdir.State(d.env.Getenv); err != nil {
		d.fail("state folder", err.Error(), "")
	} else if d.checkFolder("state folder", dir) {
		d.checkStateFile(statedir.File(dir))
	}
	dir := userdir.Runtime(d.env.Getenv)
	if d.checkFolder("runtime folder", dir) {
		d.checkEndpointFiles(dir)
	}
}

// checkFolder reports whether a folder exists and can be used.
func (d *doctor) checkFolder(check, dir string) bool {
	err := userdir.Check(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.ok(check, "%s does not exist yet; the first host creates it", dir)
		return false
	case err != nil:
		d.fail(check, err.Error(), "No host starts until this is fixed, because its tokens would not be safe.")
		return false
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.fail(check, pathError(err), "Make the folder writable: chmod 700 "+dir)
		return false
	}
	f.Close()
	_ = os.Remove(f.Name()) // made just now
	d.ok(check, "%s is writable, and only you can open it", dir)
	return true
}

func (d *doctor) checkStateFile(name string) {
	s, err := statedir.Read(name)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		d.fail("state file", name+" cannot be read: "+pathError(err), "Remove it to start with new tokens; open pages then need the new link.")
		return
	}
	if info, err := os.Lstat(name); err == nil && userdir.OpenToOthers(info) {
		d.fail("state file", name+" holds tokens, and other users can read it", "Run chmod 600 on it. If others might have read it, remove it to get new tokens.")
		return
	}
	d.ok("state file", "%s holds the tokens and port %d", name, s.Port)
}

// checkEndpointFiles removes the endpoint files of hosts that were killed, and counts the
// others.
func (d *doctor) checkEndpointFiles(dir string) {
	before := countEndpointFiles(dir)
	hosts, err := reach.Running(dir)
	if err != nil {
		d.fail("endpoint files", pathError(err), "")
		return
	}
	removed := before - countEndpointFiles(dir)
	switch {
	case removed > 0:
		d.warn("endpoint files", fmt.Sprintf("%d of running hosts; %d of hosts that were killed, now removed", len(hosts), removed), "")
	case before > len(hosts):
		d.warn("endpoint files", fmt.Sprintf("%d of running hosts; %d that are unreadable", len(hosts), before-len(hosts)),
			"They are damaged or from another version of ahp-canvas; see "+dir)
	case len(hosts) == 0:
		d.ok("endpoint files", "none, because no host is running")
	default:
		d.ok("endpoint files", "%d, all of running hosts", len(hosts))
	}
}

func countEndpointFiles(dir string) int {
	n := 0
	entries, _ := os.ReadDir(dir) // reach.Running returns the error
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			n++
		}
	}
	return n
}

// pathError words an error about a file without the name of the system call.
func pathError(err error) string {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Path + ": " + e.Err.Error()
	}
	return err.Error()
}
