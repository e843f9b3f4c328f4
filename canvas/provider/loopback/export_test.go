package loopback

import "net/http"

// DialLoopback is the default of Options.Dial.
var DialLoopback = dialLoopback

// NewJar is the jar of an instance that is given none.
func NewJar() http.CookieJar { return newJar() }
