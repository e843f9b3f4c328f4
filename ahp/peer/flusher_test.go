package peer

import "testing"

// TestShortWritesComeFirst checks that connections with much to write neither delay those
// with little, nor wait forever for them.
func TestShortWritesComeFirst(t *testing.T) {
	f := flusherPool{running: maxFlushers} // nothing runs
	long, short := &outbox{bytes: shortQueue + 1}, &outbox{bytes: shortQueue}
	for range 3 {
		f.add(long)
	}
	for range 2 * shortTurns {
		f.add(short)
	}
	for i := range 2*shortTurns + 3 {
		want := short
		if i == shortTurns || i >= 2*shortTurns+1 {
			want = long
		}
		if o := f.next(); o != want {
			t.Fatalf("the connection at %d is long: %v", i, o == long)
		}
	}
	if o := f.next(); o != nil || f.running != maxFlushers-1 {
		t.Error("the flusher did not end")
	}
}
