// Package programtest tests ahp-canvas as a program: each test runs its processes in
// a separate home folder, and checks what they print, store and answer.
//
// The program is built once for all of these tests, under the race detector if they are;
// therefore they are one package. With -short they are skipped. AHP_LONG=1 runs the long
// forms of those that kill and restart processes, and AHP_LIVES=N sets how often.
//
//	program_test.go       builds the program; machine, server and program are its processes
//	drive, events, mcp, complete, doctor, conform, view_…   one verb or two each
//	lifecycle, stale_endpoint, secrets, origins, connections, openfiles, extensions   serve
//	relay…                a relay between host and clients; relaykill kills it under load
//	kill, ledger, linearizable, sync, fulldisk   what a host has answered stays true
//	evidence…, page_heals a real browser shows canvases, on the host's machine and far away
package programtest
