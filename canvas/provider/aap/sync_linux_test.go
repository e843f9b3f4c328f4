package aap_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fileSynced   = regexp.MustCompile(`fsync\(\d+<[^>]*/interactions/\.aap-[^>]*>\) += 0`)
	linked       = regexp.MustCompile(`linkat\(.*\.aap-.*\.json.*= 0`)
	folderSynced = regexp.MustCompile(`fsync\(\d+<[^>]*/interactions>\) += 0`)
	acknowledged = regexp.MustCompile(`write\(1<[^>]*>, "ack `)
)

// TestSyncedBeforeAnswer: rule 20: a trace of system calls shows that each record is synced,
// then linked, then the folder synced, and only then acknowledged.
func TestSyncedBeforeAnswer(t *testing.T) {
	if os.Getenv("AAP_SUBMIT") != "" {
		submitTraced(t)
		return
	}
	if os.Getenv("AHP_LONG") == "" && os.Getenv("AHP_STRACE") == "" {
		t.Skip("set AHP_STRACE=1 to trace a process; not every machine allows it")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-y", "-o", trace, "-e", "trace=fsync,linkat,write", os.Args[0], "-test.run=^TestSyncedBeforeAnswer$")
	cmd.Env = append(os.Environ(), "AAP_SUBMIT=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	raw, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	step, acks := 0, 0           // file synced, linked, folder synced
	begun := map[string]string{} // calls of which the trace has only the beginning, by thread
	for line := range strings.Lines(string(raw)) {
		thread, call, _ := strings.Cut(strings.TrimSpace(line), " ")
		call = strings.TrimLeft(call, " ")
		if before, unfinished := strings.CutSuffix(call, " <unfinished ...>"); unfinished {
			begun[thread] = before
			if line = before; !acknowledged.MatchString(line) { // it counts from its beginning
				continue
			}
		} else if _, after, resumed := strings.Cut(call, " resumed>"); resumed {
			if line = begun[thread] + after; acknowledged.MatchString(line) {
				continue
			}
		}
		switch {
		case fileSynced.MatchString(line):
			step = 1
		case linked.MatchString(line) && step == 1:
			step = 2
		case folderSynced.MatchString(line) && step == 2:
			step = 3
		case acknowledged.MatchString(line):
			if acks++; step != 3 {
				t.Errorf("acknowledgment %d came after step %d of 3", acks, step)
			}
			step = 0
		}
	}
	if acks != 20 {
		t.Errorf("%d acknowledgments, want 20", acks)
	}
}

// submitTraced stores 20 records, and writes a line for each.
func submitTraced(t *testing.T) {
	e := open(t)
	for n := range 20 {
		rec := e.submit(click(fmt.Sprint(n)))
		if _, err := fmt.Fprintf(os.Stdout, "ack %s\n", rec.ID); err != nil {
			t.Fatal(err)
		}
	}
}
