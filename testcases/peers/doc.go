// Package peers measures the host against what is not ours: bare sockets,
// JSON-RPC libraries, pub/sub servers, net/http and the kernel's splice. It is a
// module of its own, so that the product's go.mod never sees them.
//
//	go run ./cmd/compare              all rows, at most 5 minutes
//	go run ./cmd/compare -short       fewer rounds, at most a minute
//	go run ./cmd/compare -row call    one row (-list names them)
//	go run ./cmd/compare -markdown    the table as the README has it
//
// # How it measures
//
//   - Both sides of a row run in the same rounds, one after the other; the ratio
//     is made of each round and its median and range are printed. Only ratios
//     travel from one machine to another.
//   - A server is a process of its own (package proc: this binary, started
//     again), so that its CPU time and memory are its own.
//   - Percentiles come from an open loop: what is sent does not wait for what
//     was sent before.
//   - Nothing here is an assertion. A row that misses its target says so and
//     the command still ends with 0; it ends with 1 where a row could not be
//     measured.
//
// # Packages
//
// proc starts sides and asks them; sides are the servers, ours and others; rows
// drives them and makes figures; figure prints. What is ours alone stands as
// benchmarks in the main module (testcases/bench and beside the packages); the
// relay's row runs the one of ahp/relay.
package peers
