package sqlitestore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

func needsStrace(t *testing.T) {
	t.Helper()
	if os.Getenv("AHP_LONG") == "" && os.Getenv("AHP_STRACE") == "" {
		t.Skip("set AHP_STRACE=1 to trace a process; not every machine allows it")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
}

var (
	syncDone = regexp.MustCompile(`(?:fsync|fdatasync)(?:\(\d+\)| resumed>\)) += (-?\d+)`)
	ackText  = regexp.MustCompile(`write\(1, "ack `)
)

// TestSyncBeforeAnswer: a trace of system calls shows a sync of the log between the call
// of each commit and its acknowledgement.
func TestSyncBeforeAnswer(t *testing.T) {
	needsStrace(t)
	ahptest.Leaks(t)
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	c := startChild(t, filepath.Join(dir, sqlitestore.FileName), 1, 200, "strace", "-f", "-o", trace, "-e", "trace=fsync,fdatasync,write")
	acks := c.acks(1 << 30)
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &c.errs)
	}
	seen, synced, bare := 0, 0, 0
	for line := range strings.Lines(string(read(t, trace))) {
		switch m := syncDone.FindStringSubmatch(line); {
		case m != nil && m[1] == "0":
			synced++
		case ackText.MatchString(line):
			if seen++; synced == 0 {
				bare++
			}
			synced = 0
		}
	}
	t.Logf("%d acknowledgements, %d of them without a sync before", seen, bare)
	if seen != acks || acks != 200 || bare > 0 {
		t.Errorf("%d acknowledgements, %d in the trace, %d before a sync", acks, seen, bare)
	}
}

// TestFailedSync: after a failed sync every later commit fails, and the acknowledged
// commits are kept.
func TestFailedSync(t *testing.T) {
	needsStrace(t)
	ahptest.Leaks(t)
	path := filepath.Join(t.TempDir(), sqlitestore.FileName)
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, path, 4, 1<<30, "strace", "-f", "-o", filepath.Join(t.TempDir(), "trace"),
		"-P", path+"-wal", "-e", "inject=fsync,fdatasync:error=EIO:when=20+")
	acks := c.acks(1 << 30)
	if err := c.cmd.Wait(); err == nil || strings.Count(c.errs.String(), "the store cannot tell what it kept") != 4 {
		t.Errorf("%v: %s", err, &c.errs)
	}
	if err := agrees(reopen(t, path), c.last); err != nil || acks == 0 {
		t.Error(err)
	}
	t.Logf("%d acknowledged, then a sync failed: the commits of 4 of 4 callers failed, 0 lost", acks)
}
