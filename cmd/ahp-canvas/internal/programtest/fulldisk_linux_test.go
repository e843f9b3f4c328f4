package programtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk mounts a disk of a few hundred KiB as the user's state folder.
func (m *machine) smallDisk(size string) {
	m.t.Helper()
	if err := syscall.Mount("tmpfs", m.state, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		m.t.Skipf("no small disk can be mounted here (it takes root): %v", err)
	}
	m.t.Cleanup(func() { _ = syscall.Unmount(m.state, syscall.MNT_DETACH) })
}

// fillDisk uses up all free space; removing the file that it returns frees it again.
func (m *machine) fillDisk() string {
	m.t.Helper()
	name := filepath.Join(m.state, "ballast")
	f, err := os.Create(name)
	if err != nil {
		m.t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{4096, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	return name
}

// TestFullDisk checks that on a full disk no operation is half done and errors say what to
// do, and that everything works again once there is space, also after a kill.
func TestFullDisk(t *testing.T) {
	m := newMachine(t)
	m.smallDisk("512k")
	admin := "127.0.0.1:" + freePort(t)
	s := m.serve("--admin", admin)
	m.do(0, "open", "board", "--instance", "before")
	ballast := m.fillDisk()
	input := `{"title":"` + strings.Repeat("x", 100) + `","lists":["` + strings.Repeat("y", 100) + `"]}`
	opened, refused := []string{"before"}, ""
	for n := 0; refused == "" && n < 200; n++ { // the store still has free pages
		id := fmt.Sprintf("during%d.", n)
		out, err := m.command(t.Context(), "open", "board", "--instance", id, "--input", input).CombinedOutput()
		if err == nil {
			opened = append(opened, id)
			continue
		}
		refused = id
		if !strings.Contains(string(out), "canvas_store_failed") || !strings.Contains(string(out), "full") {
			t.Fatalf("refused with: %s", out)
		}
		t.Logf("after %d more: %s", n, out)
	}
	if refused == "" {
		t.Fatal("nothing was refused on a full disk")
	}
	check := func(when string) {
		list := m.do(0, "ls")
		for _, id := range opened {
			if !strings.Contains(list, id) {
				t.Errorf("%s %s is lost:\n%s", when, id, list)
			}
		}
		if strings.Contains(list, refused) {
			t.Errorf("%s %s exists although it was rejected:\n%s", when, refused, list)
		}
	}
	check("on the full disk")
	if have := numbers(t, admin); have["ahp_canvas_degraded"] != 1 || have["ahp_canvas_store_errors_total"] == 0 {
		t.Errorf("/metrics of a full disk: %v", have)
	}
	if out, err := m.command(t.Context(), "doctor").CombinedOutput(); err == nil || !strings.Contains(string(out), "changes are not stored: the disk is full") {
		t.Errorf("doctor on a full disk: %v, %s", err, out)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	m.do(0, "open", "board", "--instance", "after", "--input", input)
	opened = append(opened, "after")
	for numbers(t, admin)["ahp_canvas_degraded"] != 0 {
		if t.Context().Err() != nil {
			t.Fatal("the host stays degraded")
		}
	}
	s.stop(syscall.SIGKILL)
	m.serve()
	check("after the restart")
}

// TestStartOnAFullDisk checks that a host starts on a full disk, twice, shows what it had,
// says what it cannot do, and works again once there is space.
func TestStartOnAFullDisk(t *testing.T) {
	m := newMachine(t)
	m.smallDisk("2m")
	s := m.serve()
	m.do(0, "open", "board", "--instance", "before")
	s.stop(syscall.SIGTERM)
	ballast := m.fillDisk()
	for range 2 {
		s = m.serve()
		if list := m.do(0, "ls"); !strings.Contains(list, "before") {
			t.Errorf("the canvas is lost: %s", list)
		}
		s.stop(syscall.SIGTERM)
		if said := s.noise(); !strings.Contains(said, "the disk is full") || !strings.Contains(said, "Free some disk space") {
			t.Errorf("it says: %s", said)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s = m.serve()
	m.do(0, "open", "board", "--instance", "after")
	s.stop(syscall.SIGTERM)
	if said := s.noise(); strings.Contains(said, "full") {
		t.Errorf("with space it says: %s", said)
	}
}

// TestStateRefusals checks that a state folder that cannot be used stays unchanged, and
// that the error says why and what to do.
func TestStateRefusals(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(m *machine, store string)
		want  []string
	}{
		{"a damaged store", func(m *machine, store string) {
			data, err := os.ReadFile(store)
			if err != nil {
				m.t.Fatal(err)
			}
			for at := len(data) / 3; at < len(data); at += 512 {
				data[at] ^= 0x40
			}
			if err := os.WriteFile(store, data, 0o600); err != nil {
				m.t.Fatal(err)
			}
		}, []string{"damaged", "ahp-canvas state"}},
		{"no store at all", func(m *machine, store string) {
			if err := os.WriteFile(store, []byte(strings.Repeat("this is a text. ", 1000)), 0o600); err != nil {
				m.t.Fatal(err)
			}
		}, []string{"store.db"}},
		{"a read-only disk", func(m *machine, _ string) {
			if err := syscall.Mount("", m.state, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				m.t.Skip(err)
			}
		}, []string{"not writable", "--state"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(t)
			m.smallDisk("4m")
			m.serve().stop(syscall.SIGTERM)
			store := filepath.Join(m.state, "ahp-canvas", "store.db")
			tc.spoil(m, store)
			before, _ := os.ReadFile(store)
			m.do(1, "serve", "--json")
			for _, want := range tc.want {
				if !strings.Contains(m.err, want) {
					t.Errorf("it says: %s", m.err)
				}
			}
			if after, _ := os.ReadFile(store); string(after) != string(before) {
				t.Error("the store was changed")
			}
			t.Logf("it says: %s", m.err)
		})
	}
}
