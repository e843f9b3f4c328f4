// Package board is the canvas that comes with the host: lists of cards that an
// agent fills by actions and a person sorts, edits and ticks off.
//
// # Where the state is
//
// In the host, one value per instance, changed by one function (run) whether an
// agent or a person asks. A change is posted whole, with its revision, to every
// View while the board's lock is held, so all of them see the same states in the
// same order and two Views agree at once. A change that cannot be made any more
// (the card is gone) is refused to the View that asked, which then gets the
// state that holds. Every change is saved, so an instance that is opened again
// has it.
//
// # What Views and provider say to each other (canvas/message payloads)
//
//	View      {"board":"hello"}                                   asks for the state
//	View      {"board":"do","ref":7,"action":"check_card","input":{…}}
//	provider  {"board":"state","revision":3,"title":…,"lists":[…]}  to all, or to who said hello
//	provider  {"board":"done","ref":7,"value":{…}}                to who asked
//	provider  {"board":"refused","ref":7,"code":…,"message":…}    to who asked
//
// The actions and their inputs are those of the agent (declaration.json).
//
// # Limits
//
// 20 lists, 500 cards, titles of 200 and notes of 2,000 code points, and 56 KiB
// of JSON in all, so that a whole board fits one message.
//
// The package imports canvas and ahp.
package board
