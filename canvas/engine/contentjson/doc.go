// Package contentjson encodes content as the results of canvasReadResource and
// resourceRead, in one pass and without a second copy of the content in memory.
//
// It is apart because it is optimized: text is escaped in blocks (package mark) and
// bytes become base64 straight in the buffer that is sent.
//
// [Pins] counts the content that is being sent, once for all connections.
//
// The package imports ahp, ahp/budget, ahp/mark, and segmentio/asm for base64 and UTF-8.
package contentjson
