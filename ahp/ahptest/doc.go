// Package ahptest is the test kit: an in-memory network that a test can freeze and cut
// ([Net]), HTTP servers that end with the test ([Serve], [ConnLifetime]), a check that
// code ignores the proxies of the environment ([WatchProxyLookups]), checks for leaked
// goroutines and descriptors ([Leaks], [VerifyNoLeaks]), a log ([Log]), certificates
// ([WriteCertificate]), tables of rules with their tests ([ReadRules]), and the process's
// CPU time ([CPU]).
//
// Timers and conditions are made where they are used, so a whole stack (net/http, the
// WebSocket, the peer) runs inside a testing/synctest bubble, where a keep-alive of a
// minute takes no time. A Net that is used in a bubble must be created in it.
//
// Only tests import this package. It imports only the standard library.
package ahptest
