// @ts-check
// Announces changes to screen readers. For a change that this page requested, change()
// announces its own text right after, which replaces this one.
import { announce } from "./ui.js";

/** @typedef {import("./board.js").State} State */

/** @param {State} before @param {State} after */
export function announceDifference(before, after) {
  const changes = difference(before, after);
  if (changes.length === 1) announce(changes[0]);
  else if (changes.length > 1) announce(`The board changed: ${changes.length} changes.`);
}

/** Returns a sentence for each changed card. @param {State} before @param {State} after @returns {string[]} */
export function difference(before, after) {
  const old = cards(before), current = cards(after), changes = [];
  for (const [id, now] of current) {
    const then = old.get(id);
    if (!then) changes.push(`“${now.title}” was added to “${now.list}”.`);
    else if (then.listId !== now.listId) changes.push(`“${now.title}” moved to “${now.list}”.`);
    else if (then.done !== now.done) changes.push(`“${now.title}” ${now.done ? "is done" : "is not done"}.`);
    else if (then.title !== now.title || then.notes !== now.notes) changes.push(`“${now.title}” was edited.`);
  }
  for (const [id, then] of old) if (!current.has(id)) changes.push(`“${then.title}” was removed.`);
  return changes;
}

/** Returns the cards by id, with their lists. @param {State} state */
function cards(state) {
  return new Map(state.lists.flatMap((l) => l.cards.map((c) => [c.id, { ...c, list: l.title, listId: l.id }])));
}
