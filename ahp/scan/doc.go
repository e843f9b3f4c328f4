// Package scan reads JSON text without building values. It has the module's
// only hand-written JSON readers:
//
//   - [Check] validates untrusted text strictly, counts its values and its
//     depth, and reports the members of its top object, all in one pass. A peer
//     reads every message with it.
//   - [Walker] steps through text that has been validated before. It jumps from
//     quote to quote, where a second decoder would look at every byte again.
//   - [DecodeText] decodes a string while it arrives.
//
// Everything else decodes with the library behind package ahp. These three run at
// least once for each message. Compared with a loop over jsontext.Decoder's
// tokens, Check takes nine tenths of the time for a short message and a fifth to
// four fifths for long strings, and [Measure] takes half.
//
// A Walker given malformed text may misread it, but it neither panics nor reads
// past the end.
package scan
