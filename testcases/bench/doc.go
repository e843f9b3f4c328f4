// Package bench measures packages of this module working together: the two hot
// paths of the log with real channel kinds, resuming, opening, and how the cost of
// an action, of clients that connect and disconnect, and of canvases that open and
// close depends on what the host already holds. It should not depend on it. Tests
// check how much the hot paths allocate; times are reported only.
//
//	go test -run '^$' -bench . ./testcases/bench
//
// Benchmarks of a single package are in that package: ahp/peer (fan-out and calls
// over sockets), ahp/relay (compared with a splice), channels/sqlitestore (commits
// compared with raw syncs), canvas/host (content compared with net/http),
// canvas/bridge, canvas/provider/loopback and canvas/provider/folder. The module
// testcases/peers compares with other libraries and servers.
package bench
