package look

import "time"

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

// AwaitRest waits until the tabs of looks are closed and that of the next look is prepared.
func (b *Browser) AwaitRest() {
	b.mu.Lock()
	c := b.run.engine.(*chromium)
	b.mu.Unlock()
	c.tabs.Wait()
}
