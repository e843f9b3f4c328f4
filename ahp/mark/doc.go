// Package mark processes the inside of a JSON string many bytes at a time. It finds
// the characters that need an escape ([Special], [Eight]), and writes and decodes
// short escapes ([Escape], [Unescape]). The host escapes large texts with it
// (canvas/engine/contentjson), and package scan decodes them.
//
// The results are exact to the bit, so callers need not check unmarked bytes again,
// and they are the same on every processor. On amd64, Special uses SSE2, which
// every such processor has, and Escape and Unescape use AVX2 if the processor has
// it. Other processors run plain Go. Tests and fuzzing compare all implementations
// with each other and with a loop over bytes.
//
// The assembly is here because reading large contents needs it (the row "content"
// of testcases/peers). In plain Go, these functions took most of the time of a
// reader of 1 MiB, and of the host's first read. For sixty-four bytes, Special
// takes 2 ns and 14 ns in plain Go, Unescape 7 and 17, and Escape 6 and 13. The
// number of escapes does not matter, because the code does not branch on them.
//
// The package imports only golang.org/x/sys, to ask for the processor's features.
package mark
