// @ts-check
// Says to a screen reader what somebody else changed. What this page asked for
// is said where it was asked, right after; the later word wins.
import { announce } from "./ui.js";

/** @typedef {import("./board.js").State} State */

/** @param {State} before @param {State} after */
export function announceDifference(before, after) {
  const words = difference(before, after);
  if (words.length === 1) announce(words[0]);
  else if (words.length > 1) announce(`The board changed: ${words.length} changes.`);
}

/** @param {State} before @param {State} after @returns {string[]} */
export function difference(before, after) {
  const was = cards(before), is = cards(after), words = [];
  for (const [id, now] of is) {
    const then = was.get(id);
    if (!then) words.push(`“${now.title}” was added to “${now.list}”.`);
    else if (then.listId !== now.listId) words.push(`“${now.title}” moved to “${now.list}”.`);
    else if (then.done !== now.done) words.push(`“${now.title}” ${now.done ? "is done" : "is open again"}.`);
    else if (then.title !== now.title || then.notes !== now.notes) words.push(`“${now.title}” was edited.`);
  }
  for (const [id, then] of was) if (!is.has(id)) words.push(`“${then.title}” was removed.`);
  return words;
}

/** @param {State} state */
function cards(state) {
  return new Map(state.lists.flatMap((l) => l.cards.map((c) => [c.id, { ...c, list: l.title, listId: l.id }])));
}
