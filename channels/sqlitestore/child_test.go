package sqlitestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// The test binary is also the process that is killed: with childStore set, it commits to
// that store and reports acknowledged commits on its standard output.
const (
	childStore   = "AHP_TEST_STORE"
	childCallers = "AHP_TEST_CALLERS"
	childRounds  = "AHP_TEST_ROUNDS"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childStore); path != "" {
		if err := childMain(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	ahptest.VerifyNoLeaks(m)
}

// long returns the number of repetitions, which is small unless AHP_LONG is set.
func long(short, long int) int {
	if os.Getenv("AHP_LONG") != "" {
		return long
	}
	return short
}

func childMain(path string) error {
	callers, _ := strconv.Atoi(os.Getenv(childCallers))
	rounds, _ := strconv.Atoi(os.Getenv(childRounds))
	s, err := sqlitestore.Open(context.Background(), path, sqlitestore.Options{})
	if err != nil {
		return err
	}
	at, err := readRounds(s)
	if err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString("open\n"); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, callers)
	for i := range callers {
		wg.Go(func() { errs[i] = childCaller(s, i, at[i]+1, at[i]+rounds) })
	}
	wg.Wait()
	return errors.Join(append(errs, s.Close())...)
}

func childCaller(s *sqlitestore.Store, caller, from, to int) error {
	for round := from; round <= to; round++ {
		if err := s.Commit(context.Background(), step(caller, round)...); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString(fmt.Sprintf("ack %d %d\n", caller, round)); err != nil {
			return err
		}
	}
	return nil
}

// step returns the changes of a caller's round: they set a pair of records, delete that
// of the previous round, and change the size of a third record.
func step(caller, round int) []channels.Change {
	left, right := fmt.Sprintf("left/%03d/%08d", caller, round), fmt.Sprintf("right/%03d/%08d", caller, round)
	return []channels.Change{
		{Key: left, Value: []byte(payload(caller, round))}, {Key: right, Value: []byte(payload(caller, round+1))},
		{Key: fmt.Sprintf("left/%03d/%08d", caller, round-1), Delete: true}, {Key: fmt.Sprintf("right/%03d/%08d", caller, round-1), Delete: true},
		{Key: fmt.Sprintf("size/%03d", caller), Value: []byte(strconv.Itoa(round))},
	}
}

func payload(caller, round int) string {
	return strings.Repeat(fmt.Sprintf("%d.%d;", caller, round), 1+(caller*7+round*13)%300)
}

// readRounds returns the round of each caller. It fails if a batch was applied in part,
// or if a record is of another round or was never written.
func readRounds(s channels.Store) (map[int]int, error) {
	found := map[string]string{}
	err := s.Load(context.Background(), func(key string, value []byte) error {
		found[key] = string(value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return roundsOf(found)
}

func roundsOf(found map[string]string) (map[int]int, error) {
	at, want := map[int]int{}, map[string]string{}
	for key, value := range found {
		if text, ok := strings.CutPrefix(key, "size/"); ok {
			caller, _ := strconv.Atoi(text)
			round, _ := strconv.Atoi(value)
			at[caller] = round
			for _, c := range step(caller, round) {
				if !c.Delete {
					want[c.Key] = string(c.Value)
				}
			}
		}
	}
	for key, value := range found {
		if want[key] != value {
			return at, fmt.Errorf("record %s was deleted, is incomplete or is wrong", key)
		}
	}
	if len(found) != len(want) {
		return at, fmt.Errorf("%d records, want %d", len(found), len(want))
	}
	return at, nil
}

// child is a process that commits to a store.
type child struct {
	cmd  *exec.Cmd
	out  *bufio.Scanner
	errs strings.Builder
	last map[int]int // acknowledged, by caller
}

func startChild(t *testing.T, path string, callers, rounds int, wrap ...string) *child {
	t.Helper()
	args := append(wrap, os.Args[0], "-test.run=^$")
	c := &child{cmd: exec.CommandContext(t.Context(), args[0], args[1:]...), last: map[int]int{}}
	c.cmd.Env = append(os.Environ(), childStore+"="+path, childCallers+"="+strconv.Itoa(callers), childRounds+"="+strconv.Itoa(rounds))
	c.cmd.Stderr = &c.errs
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	return c
}

// acks reads up to n acknowledgements and returns their number, which is smaller if the
// output ends.
func (c *child) acks(n int) (got int) {
	for got < n && c.out.Scan() {
		var caller, round int
		if k, _ := fmt.Sscanf(c.out.Text(), "ack %d %d", &caller, &round); k == 2 {
			c.last[caller] = round
			got++
		}
	}
	return got
}

// kill kills the process, and reads the rest of its output.
func (c *child) kill(t *testing.T) (acks int) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	acks = c.acks(1 << 30)
	_ = c.cmd.Wait() // it was killed
	return acks
}

// agrees checks that the store has the last acknowledged round of every caller, or the
// next one, whose commit was in progress.
func agrees(at, acknowledged map[int]int) error {
	for caller, round := range acknowledged {
		if at[caller] != round && at[caller] != round+1 {
			return fmt.Errorf("caller %d: round %d was acknowledged, %d is kept", caller, round, at[caller])
		}
	}
	return nil
}

// copyStore copies a store's files to a new folder.
func copyStore(t *testing.T, path string) (copied string) {
	t.Helper()
	copied = filepath.Join(t.TempDir(), sqlitestore.FileName)
	copyTo(t, path, copied)
	return copied
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	for _, end := range []string{"", "-wal", "-lock"} {
		data, err := os.ReadFile(from + end)
		if errors.Is(err, os.ErrNotExist) {
			os.Remove(to + end)
			continue
		}
		if err == nil {
			err = os.WriteFile(to+end, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	os.Remove(to + "-shm")
}
