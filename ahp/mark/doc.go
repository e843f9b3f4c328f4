// Package mark goes through the inside of a JSON string many bytes at a time: it
// finds what cannot stand for itself there ([Special], [Eight]), and writes and
// decodes short escapes ([Escape], [Unescape]). Large texts are escaped (canvas)
// and decoded (ahp/scan) with it.
//
// It promises that every bit is exact, so that its users need not look again at
// what is not marked, and that the same comes out of each way to do it. Special
// uses the registers that every amd64 processor has (SSE2), Escape and Unescape
// larger ones where the processor has them (AVX2, since 2013); everything is there
// in plain Go too, which is what other processors do. Tests and fuzzing compare
// the ways with each other and with a loop over bytes.
//
// The assembly is here because the row "content" of testcases/peers needs it. A
// look at sixty-four bytes takes 2 ns with it and 14 ns without (BenchmarkSpecial);
// to decode them takes 7 ns and 17 (BenchmarkUnescape), to escape them 6 and 13,
// however many escapes there are and wherever they stand, for it does not branch
// on them. In plain Go, these were the largest part of what a reader of 1 MiB did,
// and of what its host did for a first read.
//
// The package imports nothing of ours, and golang.org/x/sys to ask the processor.
package mark
