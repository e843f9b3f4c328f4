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
