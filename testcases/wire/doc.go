// Package wire runs the published data of testcases/ (reducer fixtures and
// round-trips, this project's or anybody's) through this project's types and
// reducers.
//
// It promises that a type is found under the name that the protocol gives it,
// and that what it does to bytes is what the host does: the same decoders, the
// same reducers, no leniency of its own.
//
// It may import the channel kinds and what they stand on; the host never imports
// it. Nothing here has state.
package wire
