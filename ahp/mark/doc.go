// Package mark finds what cannot stand for itself inside a JSON string, sixty-four
// bytes at a time. Large texts are escaped (canvas) and decoded (ahp/peer) by
// going from mark to mark and copying what lies between.
//
// It promises that every bit is exact, so that its users need not look again at
// what is not marked, and that the same bits come out of both ways to find them:
// with the registers that every amd64 processor has (SSE2), or eight bytes at a
// time in plain Go, which is what other processors do. A test compares the two.
//
// The assembly is here because the row "content" of testcases/peers needs it: a
// look at sixty-four bytes takes 2 ns with it and 14 ns without, of the 15 ns in
// which they are decoded (BenchmarkSpecial, BenchmarkDecodeText of ahp/peer).
//
// The package imports nothing of ours.
package mark
