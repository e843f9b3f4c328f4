// Package wiring lends the inside of a host to hosttest, which tests in other packages
// import: package host does not export it.
//
// It imports channels.
package wiring

import "github.com/ahp-canvas/ahp-canvas/channels"

// Log returns the log of a *host.Host. Package host sets it.
var Log func(h any) *channels.Log
