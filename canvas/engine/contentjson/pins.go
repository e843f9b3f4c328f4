package contentjson

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/budget"
)

// Pins counts the content that is being read and sent. Connections that receive the same
// content at a time share one copy of it, which counts once.
type Pins struct {
	memory *budget.Ledger

	mu      sync.Mutex
	byPlace map[*byte]*pin
	byKey   map[Key]*pin             // the newest of each key
	reading map[string]chan struct{} // by channel; the reads in progress
	waiting map[string]int           // by channel; how many use its element of reading
	sizes   map[Key]int64            // of content above readReserve that was held
}

// pin is content that at least one connection receives.
type pin struct {
	key     Key
	from    *Resource // nil unless it is streamed and has a validator
	data    []byte
	holders int
	shared  budget.Shared
}

// NewPins returns Pins that count in a ledger, which may be nil.
func NewPins(l *budget.Ledger) *Pins {
	return &Pins{memory: l, byPlace: map[*byte]*pin{}, byKey: map[Key]*pin{}, reading: map[string]chan struct{}{}, waiting: map[string]int{}, sizes: map[Key]int64{}}
}

const (
	// maxReads is how many reads of one canvas are in progress at a time. The size of
	// content is known when it has been read.
	maxReads = 16
	// readReserve is what a read counts until then, in bytes, unless it was large before.
	readReserve = 1 << 20
	// maxSizes is how many sizes are remembered.
	maxSizes = 1024
)

// Begin waits until content can be read, at most for a time. The caller calls
// end once it has the content and has held it.
func (p *Pins) Begin(ctx context.Context, within time.Duration, a *budget.Account, k Key) (end func(), err error) {
	slots, size := p.enter(k)
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		p.leave(k.Channel)
		return nil, ctx.Err()
	}
	free := func() {
		<-slots
		p.leave(k.Channel)
	}
	if err := a.Wait(ctx, within, budget.Content, size); err != nil {
		free()
		return nil, err
	}
	return func() {
		a.Give(budget.Content, size)
		free()
	}, nil
}

func (p *Pins) enter(k Key) (slots chan struct{}, size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading[k.Channel] == nil {
		p.reading[k.Channel] = make(chan struct{}, maxReads)
	}
	p.waiting[k.Channel]++
	return p.reading[k.Channel], max(readReserve, p.sizes[k])
}

func (p *Pins) leave(channel string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[channel]--; p.waiting[channel] == 0 {
		delete(p.waiting, channel)
		delete(p.reading, channel)
	}
}

// Share returns data, or an equal copy of it that is being sent under the same key.
func (p *Pins) Share(k Key, data []byte) []byte {
	p.mu.Lock()
	var same []byte
	if known := p.byKey[k]; known != nil && len(known.data) == len(data) {
		same = known.data
	}
	p.mu.Unlock()
	if same != nil && bytes.Equal(same, data) {
		return same
	}
	return data
}

// Hold counts data that a connection is about to receive, until release is called. data
// must not be empty.
func (p *Pins) Hold(a *budget.Account, k Key, data []byte) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	place := &data[0]
	held := p.byPlace[place]
	if held == nil {
		held = &pin{key: k, data: data}
		held.shared.Init(p.memory, budget.Content, int64(cap(data)))
		p.byPlace[place], p.byKey[k] = held, held
		p.remember(k, int64(len(data)))
	}
	held.holders++
	held.shared.Hold(a)
	return sync.OnceFunc(func() { p.release(a, held) })
}

// HoldResource is Share and Hold for a resource that is encoded when it is sent. While a
// connection holds it, others can have it without another read ([Pins.Current]).
func (p *Pins) HoldResource(a *budget.Account, k Key, r *Resource) (release func()) {
	r.Data = p.Share(k, r.Data)
	release = p.Hold(a, k, r.Data)
	if r.ETag != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		if held := p.byPlace[&r.Data[0]]; held.key == k {
			held.from = r
		}
	}
	return release
}

// Current returns a resource that a connection receives now, or nil. It must not be changed,
// and is valid as long as the provider says so of its ETag.
func (p *Pins) Current(k Key) *Resource {
	p.mu.Lock()
	defer p.mu.Unlock()
	if held := p.byKey[k]; held != nil {
		return held.from
	}
	return nil
}

// remember keeps the size of large content for the next read of it.
func (p *Pins) remember(k Key, size int64) {
	if size <= readReserve {
		delete(p.sizes, k)
		return
	}
	if len(p.sizes) >= maxSizes {
		clear(p.sizes)
	}
	p.sizes[k] = size
}

func (p *Pins) release(a *budget.Account, held *pin) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held.shared.Release(a)
	if held.holders--; held.holders > 0 {
		return
	}
	delete(p.byPlace, &held.data[0])
	if p.byKey[held.key] == held {
		delete(p.byKey, held.key)
	}
}
