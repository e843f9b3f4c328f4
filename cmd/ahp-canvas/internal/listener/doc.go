// Package listener is what a host and a relay share about the connections that they
// accept: how many, how a failed listen is reported, and the admin listener with
// /healthz and /metrics.
//
// # What it promises
//
//   - The connection limits fit the limit of open files. A default is lowered to fit,
//     which the log says; a number that the user gave is met or refused.
//   - The admin listener has a separate connection limit, so that health and metrics answer
//     while the main listener is full. Web pages cannot read it.
//
// It imports ahp/remote, the connection limiter of canvas/web, the Prometheus client, and package
// term. The metrics of a host and of a relay are in their own packages.
package listener
