// Package trace records what a host does as spans, and exports them to an OpenTelemetry
// collector as OTLP over HTTP, in JSON.
//
// # What it promises
//
//   - A nil *Tracer records nothing. Start then returns its context and a nil *Span, whose
//     methods do nothing, without an allocation.
//   - Work never waits for the collector. The queue has a limit; spans that do not fit, or
//     that the collector refuses, are counted and dropped.
//   - Spans have names, ids of canvases and codes of errors: no tokens, addresses or
//     contents.
//   - The durations of all spans are counted by name, also of those that the collector
//     does not take, with one span of each bucket as an example.
//   - Close exports what is queued and waits for the exporting goroutine.
//
// OpenTelemetry's own SDK would add gRPC to the program, which no OTLP over HTTP needs.
//
// The package imports the standard library only.
package trace
