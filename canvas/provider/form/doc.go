// Package form is the bundled canvas with which an agent asks a person: a form that
// the agent fills in as far as it can, and that the person edits and approves or
// declines.
//
// # Guarantees
//
//   - Only a person decides. The agent asks (open, set_fields), asks again (reset) and
//     reads (get_answer). The actions edit and decide are in another table, which an
//     agent cannot reach.
//   - A person decides on what they saw. A decision carries the question, its revision
//     and the values that the page showed. If the agent changed the form meanwhile,
//     the decision fails and the page shows the new form.
//   - An agent never takes an old decision for one on a new question: a decision names
//     its question and revision, and a new question (open, set_fields, reset) withdraws
//     an earlier decision that the agent has not read.
//   - A decided form is read-only until the agent resets it or opens it with another
//     input.
//   - The agent receives the decision once as an event,
//     {"form":"<instance>","question":"…","revision":2,"decision":"approved"|"declined",
//     "values":{…},"reason":"…"},
//     and can read it with get_answer, which returns the decision "pending" before.
//
// The host receives what the person enters while they type, so all Views show the same
// and nothing is lost. It becomes an answer only by the decision. But get_answer also
// returns it before: a person should not enter what the agent must not read.
//
// A value is a string (text, multiline, choice, and date as YYYY-MM-DD), a number or a
// boolean; an empty field has none. Approving needs all required values, and a required
// boolean to be true. Declining needs nothing.
//
// # Limits
//
// 50 fields, 60 options per field; names of 64, titles, labels and options of 200,
// texts of 500, multiline texts of 10,000, descriptions and reasons of 2,000 code
// points, and 48 KiB of JSON for the whole form, so that it fits into one message.
//
// The package imports canvas, sample and ahp.
package form
