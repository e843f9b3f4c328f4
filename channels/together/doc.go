// Package together is a line of callers who want the same done, where doing it
// once for many costs little more than for one: a commit that ends with a sync.
//
// # What it promises
//
//   - Who comes alone has its turn at once, in its own goroutine: no other one is
//     woken for it.
//   - Who comes while somebody else has the turn waits. Then the first of those that
//     wait has the turn and takes along whom it wants of those behind it.
//   - One has the turn at a time; it does one group and then gives the turn on, and
//     lets who has it then begin: what is left to do for the group is done beside
//     the next one.
//   - Who waits can leave, until it is told to lead or is taken along.
//
// A Line starts no goroutine. It does not know what is done, and imports nothing
// but the standard library.
package together
