package channels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSubscribers: with the index or without it, in yields the subscribers that a
// scan with includes finds.
func TestSubscribers(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var l subscribers
		next := ConnID(0)
		for range 300 {
			switch at := r.IntN(len(l.all) + 40); {
			case at < len(l.all):
				gone := l.all[at]
				if moved := l.remove(at); moved == gone || moved != nil && l.all[at] != moved || slices.Contains(l.all, gone) {
					t.Fatalf("seed %d: %d is not removed", seed, gone.ID)
				}
			case at%4 > 0:
				next++
				s := &Subscriber{ID: next, ClientID: fmt.Sprint("client", r.IntN(20))}
				if at := l.add(s); l.all[at] != s {
					t.Fatalf("seed %d: %d is not at the position that add returned", seed, s.ID)
				}
			default:
				a := Audience{Conn: ConnID(r.IntN(int(next) + 2)), Clients: make([]string, r.IntN(3))}
				for i := range a.Clients {
					a.Clients[i] = fmt.Sprint("client", r.IntN(22))
				}
				checkAudience(t, &l, &a)
			}
		}
	}
}

func checkAudience(t *testing.T, l *subscribers, a *Audience) {
	t.Helper()
	var want, got []ConnID
	for _, s := range l.all {
		if a.includes(s) {
			want = append(want, s.ID)
		}
	}
	for s := range l.in(a) {
		got = append(got, s.ID)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Fatalf("%d subscribers, %+v: in yields %v, want %v", len(l.all), a, got, want)
	}
	for id, of := range l.clients {
		if len(of) == 0 {
			t.Fatalf("the index has %s, which has no connection", id)
		}
	}
	for _, id := range a.Clients {
		want := slices.ContainsFunc(l.all, func(s *Subscriber) bool { return s.ClientID == id })
		if got := l.hasClient(id); got != want {
			t.Fatalf("%d subscribers: hasClient(%s) is %v, want %v", len(l.all), id, got, want)
		}
	}
}
