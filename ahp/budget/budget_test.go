package budget

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

// open opens an account that must not be closed.
func open(t *testing.T, l *Ledger, name string) *Account {
	t.Helper()
	return l.Open(name, HolderFunc(func(string) { t.Errorf("the connection of %s was closed", name) }))
}

func TestNothingIsCountedWithoutALedger(t *testing.T) {
	var l *Ledger
	a := l.Open("a", nil)
	a.Add(Queues, 1<<40)
	if err := a.Take(Queues, 1<<40); err != nil || l.Total() != 0 || !l.Fits(Queues, 1<<40) {
		t.Error(err, l.Total())
	}
	var s Shared
	s.Hold(a)
	s.Release(a)
	a.Close()
	l.Close()
}

func TestTake(t *testing.T) {
	l := New(512 * mib)
	a, b := open(t, l, "token"), open(t, l, "token")
	if err := a.Take(Frames, 60*mib); err != nil {
		t.Fatal(err)
	}
	if err := a.Take(Frames, 5*mib); !errors.Is(err, ErrFull) {
		t.Errorf("a connection took more than its share: %v", err)
	}
	if err := b.Take(Frames, 60*mib); err != nil {
		t.Errorf("another connection cannot take its share: %v", err)
	}
	if err := open(t, l, "token").Take(Frames, 10*mib); !errors.Is(err, ErrFull) {
		t.Errorf("the share of frames was exceeded: %v", err)
	}
	if l.Used(Frames) != 120*mib || l.Total() != 120*mib {
		t.Error(l)
	}
	a.Give(Frames, 60*mib)
	b.Give(Frames, 60*mib)
	if l.Total() != 0 || l.Used(Frames) != 0 {
		t.Error(l)
	}
}

// TestTokensHaveAShare checks that the connections of one token leave something to others.
func TestTokensHaveAShare(t *testing.T) {
	l := New(512 * mib)
	for n := range 8 {
		a := l.Open("one", HolderFunc(func(string) {}))
		if err := a.Take([]Kind{Queues, Replies}[n%2], 40*mib); err != nil && n < 6 {
			t.Fatal(n, err)
		} else if err == nil && n >= 8 {
			t.Errorf("one token took %d bytes", l.Total())
		}
	}
	if l.Total() > 512*mib/8*5 {
		t.Errorf("one token took %d bytes", l.Total())
	}
	l.Close()
}

func TestSharedCountsOnce(t *testing.T) {
	l := New(512 * mib)
	a, b := open(t, l, "a"), open(t, l, "b")
	var s Shared
	s.Init(l, Queues, 3*mib)
	s.Hold(a)
	s.Hold(b)
	if l.Total() != 3*mib || a.held.Load() != 3*mib || b.held.Load() != 3*mib {
		t.Error(l, a.held.Load(), b.held.Load())
	}
	s.Release(a)
	if l.Total() != 3*mib || a.held.Load() != 0 {
		t.Error(l, a.held.Load())
	}
	s.Release(b)
	if l.Total() != 0 {
		t.Error(l)
	}
}

// closing opens an account that gives back what it holds when it is closed.
func closing(l *Ledger, name string, k Kind, n int64) (closed *bool) {
	closed = new(bool)
	var a *Account
	a = l.Open(name, HolderFunc(func(string) {
		*closed = true
		a.Give(k, n)
	}))
	a.Add(k, n)
	return closed
}

// TestTheLargestAndSlowestAreClosed checks the soft limit: those that hold most for the
// longest time are closed, and nothing more than needed.
func TestTheLargestAndSlowestAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(512 * mib)
		slow := closing(l, "view/", Queues, 60*mib)
		time.Sleep(5 * time.Second)
		large, small := closing(l, "view/", Queues, 60*mib), closing(l, "view/", Queues, 100<<10)
		medium := closing(l, "view/", Queues, 10*mib)
		time.Sleep(5 * time.Second)
		newest := closing(l, "view/", Queues, 50*mib)
		l.Add(State, 120*mib) // 300 MiB
		synctest.Wait()
		if !*slow || *large || *small || *medium || *newest {
			t.Errorf("closed: slow %v, large %v, small %v, medium %v, newest %v", *slow, *large, *small, *medium, *newest)
		}
		if s := l.Stats(); s.Closed != 1 || l.Total() > l.soft() {
			t.Errorf("%+v, %s", s, l)
		}
		l.Close()
	})
}

// TestCachesGiveWayFirst: what can be had again is dropped before a connection is closed.
func TestCachesGiveWayFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(512 * mib)
		slow := closing(l, "view/", Queues, 60*mib)
		l.Add(Cache, 60*mib)
		l.OnPressure(func() { l.Add(Cache, -l.Used(Cache)) })
		time.Sleep(5 * time.Second)
		l.Add(State, 150*mib) // 270 MiB, and 210 MiB without the cache
		synctest.Wait()
		if *slow || l.Used(Cache) != 0 {
			t.Errorf("closed: %v, %s", *slow, l)
		}
		l.Close()
	})
}

// TestARefusedKindIsRelieved checks that a kind whose share is used up closes its slowest
// holders when others need it.
func TestARefusedKindIsRelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(512 * mib)
		var stuck []*bool
		for range 4 {
			stuck = append(stuck, closing(l, "view/", Content, 32*mib))
		}
		time.Sleep(time.Second)
		if err := open(t, l, "view/").Wait(t.Context(), 10*time.Second, Content, 15*mib); err != nil {
			t.Errorf("a reader that waits gets no content: %v", err)
		}
		synctest.Wait()
		n := 0
		for _, c := range stuck {
			if *c {
				n++
			}
		}
		if n == 0 || n == 4 {
			t.Errorf("%d of 4 were closed", n)
		}
		l.Close()
	})
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(512 * mib)
		a, b := l.Open("a", HolderFunc(func(string) {})), l.Open("b", HolderFunc(func(string) {}))
		a.Add(Frames, 128*mib)
		begun := time.Now()
		if err := b.Wait(t.Context(), 3*time.Second, Frames, mib); !errors.Is(err, ErrFull) || time.Since(begun) < 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Wait(ctx, time.Minute, Frames, mib); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			time.Sleep(time.Second)
			a.Give(Frames, 128*mib)
		})
		if err := b.Wait(t.Context(), 3*time.Second, Frames, mib); err != nil {
			t.Error(err)
		}
		wg.Wait()
		l.Close()
	})
}

func TestMachineMemory(t *testing.T) {
	const meminfo = "MemTotal:       16777216 kB\nMemFree: 1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing known": {nil, 0},
		"a machine":     {map[string]string{"/proc/meminfo": meminfo}, 16 << 30},
		"a container, v2": {map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/memory.max": "1073741824\n", "/sys/fs/cgroup/a/b/memory.max": "max\n",
		}, 1 << 30},
		"a container that sees its own root": {map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/../../x\n", "/sys/fs/cgroup/memory.max": "2147483648\n",
		}, 2 << 30},
		"a container, v1": {map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": "5:cpu,memory:/docker/1\n1:name=systemd:/\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n",
		}, 512 << 20},
		"no limit, v1": {map[string]string{
			"/proc/meminfo": meminfo, "/proc/self/cgroup": "5:memory:/\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 16 << 30},
	} {
		have := machineMemory(func(name string) ([]byte, error) {
			if text, ok := c.files[name]; ok {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		})
		if have != c.want {
			t.Errorf("%s: %d, want %d", name, have, c.want)
		}
	}
	for memory, want := range map[int64]int64{0: Default, 128 << 20: Least, 4 << 30: 1 << 30, 64 << 30: Most} {
		if have := quarter(memory); have != want {
			t.Errorf("of %d bytes: %d, want %d", memory, have, want)
		}
	}
}
