//go:build !unix

package extension

import "os"

// alive: elsewhere only a process that exists is found.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
