// Package access says what a token's role permits: which methods and actions a
// connection may send, and which only under a condition.
//
// The rules are data: matrix.json, which testcases/roles repeats for hosts in other
// languages, and which ahp/PROTOCOL.md section 14.3 shows as a table.
//
// # What it promises
//
//   - A check is one lookup in a table that is made at the start.
//   - What the matrix does not name, only the role agent may send. An unknown role may
//     send nothing.
//   - A refusal has the code role_required and names the roles that would do.
//
// It imports the vocabulary (ahp).
package access
