package engine

import (
	"container/list"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// cacheKey is the identity of an encoded read. A channel is never used again, so
// content of a closed canvas is not found by another.
type cacheKey struct {
	channel string
	path    string // as it was asked for, query included
	form    string // what was encoded: "read", or an encoding of resourceRead
}

type cached struct {
	key   cacheKey
	etag  string
	value ahp.Value // nil: it was read once, and not kept
}

// cache keeps encoded results of content that has a validator, the least
// recently used leaving first, bounded by bytes. Its mutex is a leaf.
type cache struct {
	limit int

	filling sync.Mutex // of large content one is encoded for the cache at a time

	mu    sync.Mutex
	byKey map[cacheKey]*list.Element // of *cached
	order *list.List                 // most recently used first
	bytes int
}

func (c *cache) get(k cacheKey) (cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[k]
	if e == nil {
		return cached{}, false
	}
	c.order.MoveToFront(e)
	return *e.Value.(*cached), true
}

// holds reports whether a value of n bytes may be kept: it is at most half of all.
func (c *cache) holds(n int) bool { return n <= c.limit/2 }

// put keeps a value, or that there was one where it is nil.
func (c *cache) put(k cacheKey, etag string, value ahp.Value) {
	if etag == "" || !c.holds(len(value)) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey, c.order = map[cacheKey]*list.Element{}, list.New()
	}
	old := c.byKey[k]
	if value == nil && old != nil && old.Value.(*cached).etag == etag {
		return
	}
	c.remove(old)
	c.byKey[k] = c.order.PushFront(&cached{k, etag, value})
	c.bytes += c.cost(c.byKey[k])
	for c.bytes > c.limit {
		c.remove(c.order.Back())
	}
}

func (c *cache) cost(e *list.Element) int {
	v := e.Value.(*cached)
	return len(v.value) + len(v.key.path) + letterCost
}

func (c *cache) remove(e *list.Element) {
	if e == nil {
		return
	}
	c.bytes -= c.cost(e)
	delete(c.byKey, e.Value.(*cached).key)
	c.order.Remove(e)
}

// forget drops what a closed canvas has left.
func (c *cache) forget(channel string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, e := range c.byKey {
		if k.channel == channel {
			c.remove(e)
		}
	}
}
