//go:build unix && !linux

package look

import "syscall"

func endWithParent(*syscall.SysProcAttr) {}

// maxMemory is MaxMemory and what some ten processes of a browser share, which counts once
// for each.
const maxMemory = MaxMemory + 2<<30

func memoryOf(group int) int64 { return residentOf(group) }
