// Package wire runs published test data (reducer fixtures and round-trips, of
// this project or of others) through this project's types and reducers.
//
// It uses the host's own decoders and reducers, and finds types by the names
// that the protocol gives them. The host never imports it. The package has no
// state.
package wire
