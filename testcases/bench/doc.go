// Package bench measures our own parts together where no package of theirs can:
// the two hot paths of the log with real channel kinds, resuming, opening, and
// how the cost of an action, and of coming, going, opening and closing, grows with
// what a host holds: not at all. It has tests for what
// must not grow unnoticed: how much the hot paths allocate. Times are figures
// and no tests.
//
//	go test -run '^$' -bench . ./testcases/bench
//
// Benchmarks of one package stand beside it: ahp/peer (fan-out and calls over
// sockets), ahp/relay (against a splice), channels/sqlitestore (commits against
// raw syncs), canvas/host (content against net/http), canvas/bridge,
// canvas/provider/loopback, canvas/provider/folder. What is compared with others' libraries and
// servers is the module testcases/peers.
package bench
