// Package conform holds the commands that test and record protocol traffic: conform plays
// the published transcripts against a host, check runs a folder of fixtures, and record
// writes the exchange between clients and a host as a transcript.
//
// # What it promises
//
//   - conform leaves the host's own sessions alone, and removes those that it made.
//   - A run that was interrupted, or that played no case, is not a success.
//   - A recorded transcript holds no token.
//
// It imports testcases and testcases/conform, which do the work, the agent's client
// (canvas/mcp), and packages reach and term.
package conform
