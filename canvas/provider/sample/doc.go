// Package sample is the common part of the bundled canvases: a value that lives
// with the provider, and pages that show it. A [Definition] names the value and
// the actions that change it; the provider that [New] returns keeps the value,
// saves it and sends it to every View.
//
// # Guarantees
//
//   - An instance has one value, and one function (run) changes it for agents and
//     people alike. Each change is posted with its revision while the instance's
//     lock is held, so all Views receive the same states in the same order.
//   - A failed action changes nothing. The View that asked receives the reason and
//     the current state.
//   - Each change is saved before anything shows it, so a reopened instance has it.
//
// There is no goroutine and nothing to close.
//
// # Messages
//
// Views and provider exchange these canvas/message payloads. ref is any JSON that
// the View chooses; link.js makes it unique among all pages.
//
//	View      {"sample":"hello"}                                   asks for the state
//	View      {"sample":"do","ref":"k3-7","action":"edit","input":{…}}
//	provider  {"sample":"state","revision":3,"state":{…}}          after a change, and the answer to hello
//	provider  {"sample":"done","ref":"k3-7","value":…}             the action succeeded
//	provider  {"sample":"refused","ref":"k3-7","code":…,"message":…}
//
// Changes go to all Views, answers to the View that asked. Definition.Agent and
// Definition.Person are separate tables: an agent cannot approve its own form.
//
// # In a client
//
// A provider in a client ([canvas.Handle]) cannot save, raise events or address one
// View. Then values last as long as the instance, the agent receives no events, and
// answers go to all Views; a page ignores those with the ref of another page.
//
// # The page
//
// [Files] adds the shared files to a page's own, for any canvas: base.css (tokens,
// buttons and inputs in the style of the bundled canvases), ui.js (elements,
// announcements, toasts) and link.js (the messages above). A page's own file
// replaces the shared one of the same name.
//
// The package imports canvas and ahp. sample/sampletest is its kit for browser
// tests.
package sample
