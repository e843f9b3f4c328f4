package contentjson

import (
	"fmt"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// TestCacheIsInTheLedger: the cache counts what it keeps, has at most its share, and gives
// everything back.
func TestCacheIsInTheLedger(t *testing.T) {
	ledger := budget.New(64 << 20)
	c := Cache{Limit: 64 << 20, Memory: ledger}
	put := func(n, size int) {
		c.Put(Key{Channel: "ahp-canvas:/1", Path: fmt.Sprint("/", n)}, "etag", make([]byte, size))
	}
	put(0, 1<<20)
	put(0, 2<<20) // replaces it
	if used := ledger.Used(budget.Cache); used != int64(c.bytes) || used < 2<<20 || used > 2<<20+1<<10 {
		t.Errorf("a cache of %d bytes counts %d", c.bytes, used)
	}
	for n := range 20 {
		put(n, 1<<20)
	}
	share := ledger.Share(budget.Cache)
	if used := ledger.Used(budget.Cache); used > share || used < share-2<<20 {
		t.Errorf("20 MiB were cached: %d bytes count, the share is %d", used, share)
	}
	ledger.Add(budget.State, 45<<20) // more than the hard limit with the cache
	put(30, 1<<20)
	if used := ledger.Total(); used > 48<<20 {
		t.Errorf("%d bytes are held at the hard limit", used)
	}
	c.Empty()
	if used := ledger.Used(budget.Cache); used != 0 || c.bytes != 0 || c.Bytes() != 0 {
		t.Errorf("an empty cache counts %d bytes", used)
	}
	put(1, 100)
	c.Forget("ahp-canvas:/1")
	if used := ledger.Used(budget.Cache); used != 0 {
		t.Errorf("content of a closed canvas counts %d bytes", used)
	}
	ledger.Close()
}
