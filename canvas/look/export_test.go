package look

import (
	"context"
	"time"
)

// SetLimit replaces LookTime.
func (b *Browser) SetLimit(d time.Duration) { b.limit = d }

// Process returns the id of the browser's process, or 0.
func (b *Browser) Process() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.run == nil {
		return 0
	}
	<-b.run.ready
	return b.run.engine.(*chromium).process.Load().Pid
}

// AwaitSpare waits until the tab of the next look has been prepared.
func (b *Browser) AwaitSpare(ctx context.Context) {
	b.mu.Lock()
	c := b.run.engine.(*chromium)
	b.mu.Unlock()
	select {
	case t := <-c.spare:
		c.spare <- t
	case <-ctx.Done():
	}
}
