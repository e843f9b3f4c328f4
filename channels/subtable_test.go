package channels

import "testing"

// TestSubTable checks the table against a map, below and above the size of its list.
func TestSubTable(t *testing.T) {
	var table subTable
	want := map[*channel]subscription{}
	all := make([]channel, 3*mostFew)
	check := func() {
		t.Helper()
		n := 0
		for c, sub := range table.all() {
			if n++; want[c] != sub {
				t.Errorf("%+v, want %+v", sub, want[c])
			}
		}
		if n != len(want) || table.len() != n {
			t.Errorf("%d and %d, want %d", n, table.len(), len(want))
		}
		for i := range all {
			sub, ok := table.get(&all[i])
			if w, is := want[&all[i]]; ok != is || sub != w {
				t.Errorf("%d: %+v %t, want %+v %t", i, sub, ok, w, is)
			}
		}
	}
	for i := range all {
		for _, k := range []int{i, i / 2} { // new ones and old ones
			sub := subscription{at: i, fromSeq: int64(k)}
			table.set(&all[k], sub)
			want[&all[k]] = sub
		}
		if i%3 == 0 {
			table.remove(&all[i/3])
			delete(want, &all[i/3])
		}
		check()
	}
	for i := range all {
		table.remove(&all[i])
		delete(want, &all[i])
		check()
	}
}
