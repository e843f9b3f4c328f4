package loopback

// DialLoopback is the default of Options.Dial.
var DialLoopback = dialLoopback
