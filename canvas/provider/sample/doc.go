// Package sample is what the bundled canvases share: a value that lives in the
// host, and pages that show it. A [Definition] says what the value is and how it
// changes; this package keeps it, saves it and tells everybody.
//
// # Ordering and ownership
//
// One value per instance, changed by one function (run) whether an agent or a
// person asks. A change is posted with its revision to every View while the
// instance's lock is held, so that all of them hear the same states in the same
// order: two Views agree at once. A change that is refused leaves nothing behind,
// and the View that asked for it is told why and gets the state that holds. Every
// change is saved, so an instance that is opened again has it. There is no
// goroutine and nothing to close.
//
// # What Views and provider say to each other (canvas/message payloads)
//
//	View      {"sample":"hello"}                                   asks for the state
//	View      {"sample":"do","ref":7,"action":"edit","input":{…}}
//	provider  {"sample":"state","revision":3,"state":{…}}          to all, or to who said hello
//	provider  {"sample":"done","ref":7,"value":…}                  to who asked
//	provider  {"sample":"refused","ref":7,"code":…,"message":…}    to who asked
//
// What a person may ask for is the Definition's word (Person), and need not be
// what an agent may (Agent): an agent cannot approve its own form.
//
// # The page
//
// Every page has, beside its own files, base.css (tokens, buttons, inputs: how
// the bundled canvases look), ui.js (elements, announcements, toasts) and link.js
// (the messages above). A file of its own goes before a shared one.
//
// The package imports canvas and ahp. sample/sampletest is its kit for browser
// tests.
package sample
