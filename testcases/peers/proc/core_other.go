//go:build !linux

package proc

// OneCore does nothing here.
func (p *Process) OneCore(bool) error { return nil }
