// Package board is the canvas that comes with the host: lists of cards that an
// agent fills by actions and a person sorts, edits and ticks off.
//
// # Where the state is
//
// In the host, one value per instance. Package sample keeps it, saves it, tells
// every View and orders what agents and people do; its comment says how, and what
// Views and provider say to each other. Here is what a board is and how actions
// change it. A person may ask for every action that an agent may, with the same
// inputs (declaration.json); what a person changed is an event for the agent:
//
//	{"type":"board.changed","action":"check_card","input":{…}}
//
// # Limits
//
// 20 lists, 500 cards, titles of 200 and notes of 2,000 code points, and 56 KiB
// of JSON in all, so that a whole board fits one message.
//
// The package imports canvas, canvas/sample (ordering, messages, saving) and ahp.
package board
