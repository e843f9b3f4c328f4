package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	var w Words
	w.Add([]byte(strings.Repeat("old\n", 1000)))
	w.Add([]byte("\x1b[31;1mError\x1b[0m:\tbad\x07 \xff\n\n"))
	got := w.String()
	if !strings.HasSuffix(got, "\nError:    bad \uFFFD") || strings.Count(got, "\n") != outputLines-1 {
		t.Errorf("%q", got)
	}
}

func TestTail(t *testing.T) {
	var buf []byte
	lost := 0
	for _, s := range []string{"abc", "de", "f", "ghijkl", ""} {
		var n int
		buf, n = tail(buf, []byte(s), 5)
		lost += max(0, n)
	}
	if string(buf) != "hijkl" || lost != 7 {
		t.Errorf("%q, %d lost", buf, lost)
	}
}

// A log consists of two files of a limited size.
func TestRotating(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.log")
	bounded := func(file string) {
		if info, err := os.Stat(file); err != nil || info.Size() == 0 || info.Size() > fileSize {
			t.Errorf("%s: %v, %v", filepath.Base(file), info, err)
		}
	}
	for _, n := range []int{40, 5} { // the second runner appends to the first one's file
		r := &rotating{name: name}
		for range n {
			r.write(bytes.Repeat([]byte("x"), 30<<10))
			bounded(name)
		}
		r.close()
	}
	bounded(name + ".1")
	if err := errors.Join(os.Remove(name+".1"), os.MkdirAll(filepath.Join(name+".1", "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	r := &rotating{name: name} // which cannot be renamed
	defer r.close()
	for range 20 {
		r.write(bytes.Repeat([]byte("x"), 30<<10))
	}
	bounded(name)
}
