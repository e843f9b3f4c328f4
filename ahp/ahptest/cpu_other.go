//go:build !unix

package ahptest

import "time"

func CPU() time.Duration { return 0 }
