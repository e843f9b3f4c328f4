// Package form is the bundled canvas by which an agent asks: a form that it
// fills in as far as it can, and a person who edits it and approves or declines.
//
// # What it promises
//
//   - Only a person decides. The agent asks (open, set_fields), asks again
//     (reset) and reads (get_answer); what edits and decides stands in another
//     table, which no action of the agent reaches.
//   - A person decides what they saw. A decision names the version of the form
//     that it was made on and carries the values that the page showed; where the
//     agent has asked anew meanwhile it is refused, and the new form is shown.
//   - A decision stands until the agent resets the form or opens it with another
//     input: until then it is read-only, for everybody.
//   - The agent hears it once, as the event
//     {"form":"<instance>","decision":"approved"|"declined","values":{…},"reason":"…"}
//     and as often as it likes by get_answer, which says "pending" before.
//
// What the person has entered is in the host while they type, so that two Views
// show the same and nothing is lost. It becomes an answer by the decision alone,
// but get_answer shows it: people should not type what the agent must not read.
// A value is a string (text, multiline, choice, and date as YYYY-MM-DD), a
// number or a boolean; a field that is empty has none. Approving needs all
// required values, declining none. A required boolean has to be true.
//
// # Limits
//
// 50 fields, 60 options a field; names of 64, titles, labels and options of 200,
// texts of 500, multiline texts of 10,000, descriptions and reasons of 2,000
// code points; and 48 KiB of JSON in all, so that a form fits one message.
//
// The package imports canvas, canvas/sample (ordering, messages, saving) and ahp.
package form
