package contentjson

import (
	"container/list"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// Key identifies an encoded read. Channels are never used again, so a canvas does
// not find a closed one's content.
type Key struct {
	Channel string // of the instance
	Path    string // as requested, with its query
	Form    string // "read", or the encoding of a resourceRead
}

// Entry is a cached read.
type Entry struct {
	key   Key
	ETag  string    // its validator
	Value ahp.Value // nil: it was read once and not cached
}

// Cache holds encoded results of content that has a validator. It is bounded in bytes and
// evicts the least recently used first.
type Cache struct {
	// Limit is its size in bytes. It is set before the first use.
	Limit int
	// Memory is the ledger in which the cache counts, which may be nil. It is set before the
	// first use. The cache has at most its share of the ledger, and nothing under pressure.
	Memory *budget.Ledger
	// Filling is the caller's: it is held while large content is encoded for the cache, one
	// at a time.
	Filling sync.Mutex

	mu    sync.Mutex
	byKey map[Key]*list.Element // of *Entry
	order *list.List            // most recently used first
	bytes int
}

// cacheOverhead is what an entry counts in addition to its value and path, in bytes.
const cacheOverhead = 256

// Get returns a cached read, and whether the content was read before.
func (c *Cache) Get(k Key) (Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[k]
	if e == nil {
		return Entry{}, false
	}
	c.order.MoveToFront(e)
	return *e.Value.(*Entry), true
}

// Holds reports whether a value of n bytes may be cached: at most half of the cache.
func (c *Cache) Holds(n int) bool { return n <= c.Limit/2 }

// Put caches a value. A nil value records only that the content was read.
func (c *Cache) Put(k Key, etag string, value ahp.Value) {
	if etag == "" || !c.Holds(len(value)) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey, c.order = map[Key]*list.Element{}, list.New()
	}
	old := c.byKey[k]
	if value == nil && old != nil && old.Value.(*Entry).ETag == etag {
		return
	}
	c.remove(old)
	c.byKey[k] = c.order.PushFront(&Entry{k, etag, value})
	c.add(c.cost(c.byKey[k]))
	for c.order.Len() > 0 && (c.bytes > c.Limit || !c.Memory.Fits(budget.Cache, 0)) {
		c.remove(c.order.Back())
	}
}

// Empty drops all entries.
func (c *Cache) Empty() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(-c.bytes)
	clear(c.byKey)
	if c.order != nil {
		c.order.Init()
	}
}

// add counts n bytes; n may be negative.
func (c *Cache) add(n int) {
	c.bytes += n
	c.Memory.Add(budget.Cache, int64(n))
}

func (c *Cache) cost(e *list.Element) int {
	v := e.Value.(*Entry)
	return len(v.Value) + len(v.key.Path) + cacheOverhead
}

func (c *Cache) remove(e *list.Element) {
	if e == nil {
		return
	}
	c.add(-c.cost(e))
	delete(c.byKey, e.Value.(*Entry).key)
	c.order.Remove(e)
}

// Forget drops the entries of a closed canvas.
func (c *Cache) Forget(channel string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, e := range c.byKey {
		if k.Channel == channel {
			c.remove(e)
		}
	}
}

// Bytes returns the size of the cached values, without overhead.
func (c *Cache) Bytes() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.byKey {
		n += len(e.Value.(*Entry).Value)
	}
	return n
}
