//go:build race

package conform_test

// The race detector makes a host so slow that its messages are no flood.
func init() { raceDetector = true }
