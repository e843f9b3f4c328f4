package sqlitestore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

// FuzzMark: read accepts exactly what write writes.
func FuzzMark(f *testing.F) {
	f.Add([]byte{}, uint64(7))
	f.Add([]byte("pid 0000000001\nstore 0123456789abcdef\ncommit 00000000000000000007\ncrc 00000000\n"), uint64(1<<63))
	f.Add([]byte("pid 0000027031\nstore 6e1da3a8c88e7c60\ncommit 00000000000000000002\ncrc 3b0e0891\n"), uint64(2))
	f.Add([]byte("pid 27031\nstore 6e1da3a8c88e7c60\ncommit 2\ncrc 3B0e0891 "), uint64(2)) // valid, but write writes another form
	f.Fuzz(func(t *testing.T, data []byte, commits uint64) {
		file, err := os.Create(filepath.Join(t.TempDir(), "lock"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.Write(data); err != nil {
			t.Fatal(err)
		}
		l := &lock{f: file}
		if pid := l.read(); l.mark != (mark{}) && string(markText(pid, l.mark)) != string(data[:min(len(data), len(markText(pid, l.mark)))]) {
			t.Errorf("%q is read as %d %+v", data, pid, l.mark)
		}
		want := mark{newManifest().Store, commits}
		if err := l.write(want); err != nil {
			t.Fatal(err)
		}
		if pid := l.read(); pid != os.Getpid() || l.mark != want {
			t.Errorf("%d %+v, want %+v", pid, l.mark, want)
		}
	})
}

// FuzzManifest: a manifest is accepted only with its checksum, and encodes to the same.
func FuzzManifest(f *testing.F) {
	m := manifest{Store: "0123456789abcdef", Commits: 3, Records: 2, Sum: 1 << 63, Open: true}
	body, crc := m.encode()
	f.Add(int64(format), body, crc)
	f.Add(int64(format), body+" ", crc)
	f.Add(int64(2), body, crc)
	for _, text := range []string{"null", "{}", `{"commits":-1}`, `{"records":1e9}`, "\xff"} {
		f.Add(int64(format), text, int64(manifestSum(format, text)))
	}
	f.Fuzz(func(t *testing.T, version int64, text string, sum int64) {
		got, err := decodeManifest(version, text, sum)
		if err == nil && version == format {
			again, crc := got.encode()
			if back, err := decodeManifest(format, again, crc); err != nil || back != got {
				t.Errorf("%+v becomes %+v: %v", got, back, err)
			}
		}
		if err == nil && int64(manifestSum(version, text)) != sum {
			t.Errorf("accepted with a wrong checksum: %q", text)
		}
	})
}

// TestLock: the mark survives the process that wrote it, is the last one written, and
// has the process id.
func TestLock(t *testing.T) {
	ahptest.Leaks(t)
	path := filepath.Join(t.TempDir(), FileName)
	l, err := takeLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if l.mark != (mark{}) {
		t.Errorf("a new lock has %+v", l.mark)
	}
	want := mark{newManifest().Store, 5}
	if err := l.write(want); err != nil {
		t.Fatal(err)
	}
	if _, held, pid, err := shareLock(path); !held || pid != os.Getpid() || err != nil {
		t.Errorf("shareLock: %v %d %v", held, pid, err)
	}
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if l, err = takeLock(path); err != nil || l.mark != want {
			t.Fatalf("%+v %v", l, err)
		}
		if err := l.release(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRecords: a byte that moved from key to value is noticed, and so is a key that
// exists twice.
func TestRecords(t *testing.T) {
	if recordSum([]byte("ab"), []byte("c")) == recordSum([]byte("a"), []byte("bc")) {
		t.Error("the checksum does not change if a byte moves from key to value")
	}
	once := []record{{key: "b"}, {key: "a"}, {key: "a\x00"}}
	if err := sortRecords(once); err != nil || once[0].key != "a" || once[2].key != "b" {
		t.Errorf("%v %v", once, err)
	}
	if err := sortRecords([]record{{key: "b"}, {key: "a"}, {key: "b"}}); err == nil {
		t.Error("two records of one key were accepted")
	}
	if err := sortRecords(nil); err != nil {
		t.Error(err)
	}
}
