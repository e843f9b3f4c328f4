//go:build !linux

package proc

// Pin does nothing on this system.
func (p *Process) Pin(int) error { return nil }
