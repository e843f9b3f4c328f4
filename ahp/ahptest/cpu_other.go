//go:build !unix

package ahptest

import "time"

// CPU returns 0, because this system has no getrusage.
func CPU() time.Duration { return 0 }
