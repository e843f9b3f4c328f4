// Package peers compares the host with other software: bare sockets, JSON-RPC
// libraries, pub/sub servers, net/http and the kernel's splice. It is a separate
// module, so that the product does not depend on them.
//
//	go run ./cmd/compare              all rows, at most 5 minutes
//	go run ./cmd/compare -short       fewer rounds, at most a minute
//	go run ./cmd/compare -row call    one row (-list names them)
//	go run ./cmd/compare -markdown    the table as in the README
//
// # Method
//
//   - Both sides of a row run in the same rounds, alternating. Each round has a
//     ratio, and the command prints the median and range of the ratios. Only ratios
//     are comparable between machines.
//   - Each server is a separate process (package proc: this binary, started
//     again), so that its CPU time and memory can be measured.
//   - Percentiles are measured in an open loop: requests are sent at a fixed rate,
//     without waiting for earlier ones.
//   - Nothing here is an assertion. A row that misses its target is reported, and
//     the exit status is still 0; it is 1 if a row could not be measured.
//
// # Packages
//
// proc starts sides and sends them requests. sides has the servers, ours and
// others. rows drives them and makes figures, which figure prints. Benchmarks that
// compare nothing with others are in the main module (testcases/bench and the
// packages themselves). The relay's row runs the benchmark of ahp/relay.
package peers
