// Package board is the bundled canvas with lists of cards: an agent fills it by
// actions, and a person sorts, edits and ticks off the cards in the page.
//
// Package sample keeps the state and orders the changes of agents and people; its
// comment describes how, and the messages of Views. A person can do all that an agent
// can, with the same inputs (declaration.json). A person's change is an event for the
// agent:
//
//	{"type":"board.changed","action":"check_card","input":{…},"value":{…},"revision":12}
//
// The value is what the action returned: it names the card and its list. The revision is
// that of get_board and of the answers to an agent's actions, so an agent sees whether the
// board changed after it looked.
//
// A change can name what its sender saw of the card or list (seen). The page always does.
// If another text stands there by then, or the card was moved, the change fails with
// board_changed: a person who ticks "Buy milk" has not ticked the text that replaced it.
//
// # Limits
//
// 20 lists, 500 cards, titles of 200 and notes of 2,000 code points, and 56 KiB of
// JSON for the whole board, so that it fits into one message.
//
// The package imports canvas, sample and ahp.
package board
