// Package relaytest runs a relay and the uplink of a host during a test.
//
// It is a test kit: it imports ahp/relay and ahp/ws, and only tests import it.
package relaytest
