// @ts-check
// The changes that a person can make, by button, key or form.
import { change, current, redraw } from "./board.js";
import { byId, make, toast } from "./ui.js";
import { form } from "./parts.js";
import { seenCard, seenList } from "./draw.js";

/** @typedef {import("./board.js").List} List */
/** @typedef {import("./board.js").Card} Card */

/** @param {string} id @returns {List | undefined} */
export const listOf = (id) => current().lists.find((l) => l.id === id);

/** @param {string} id @returns {{ list: List, card: Card, at: number } | undefined} */
export function cardOf(id) {
  for (const list of current().lists) {
    const at = list.cards.findIndex((c) => c.id === id);
    if (at >= 0) return { list, card: list.cards[at], at };
  }
  return undefined;
}

/** @param {string} id */
export function tick(id) {
  const found = cardOf(id);
  if (!found) return redraw();
  const { card } = found;
  return change(card.done ? "uncheck_card" : "check_card", { card: id, seen: { title: card.title } }, `“${card.title}” ${card.done ? "is not done" : "is done"}.`);
}

/** @param {string} id @param {string} list @param {number} position among the cards without this one @param {any} [seen] the card when the person took it */
export async function moveCard(id, list, position, seen = seenCard(id)) {
  const found = cardOf(id), target = listOf(list);
  if (!found || !target) return redraw();
  const others = target.cards.length - (found.list === target ? 1 : 0);
  const at = Math.max(0, Math.min(position, others));
  if (found.list === target && found.at === at) return redraw();
  await change("move_card", { card: id, list, position: at, seen }, `“${found.card.title}” moved to “${target.title}”, ${at + 1} of ${others + 1}.`);
}

/** @param {string} id */
export async function removeCard(id) {
  const found = cardOf(id);
  if (!found) return;
  const { card, list, at } = found;
  if (!await change("remove_card", { card: id, seen: seenCard(id) }, "")) return;
  toast(`“${card.title}” was removed.`, () => change("add_card", { list: list.id, title: card.title, notes: card.notes ?? "", done: card.done, position: at }, `“${card.title}” was restored.`));
}

/** @param {string} id */
export async function removeList(id) {
  const list = listOf(id), position = current().lists.findIndex((l) => l.id === id);
  if (!list || !await change("remove_list", { list: id, seen: seenList(id) }, "")) return;
  const cards = list.cards.map(({ title, notes, done }) => ({ title, notes: notes ?? "", done }));
  toast(`“${list.title}” was removed${cards.length ? ` with ${cards.length} ${cards.length === 1 ? "card" : "cards"}` : ""}.`,
    () => change("add_list", { title: list.title, position, cards }, `“${list.title}” was restored.`));
}

/** @param {string} id @param {number} by */
export function moveList(id, by) {
  const lists = current().lists, at = lists.findIndex((l) => l.id === id), to = at + by;
  if (at < 0 || to < 0 || to >= lists.length) return;
  return change("move_list", { list: id, position: to }, `“${lists[at].title}” is list ${to + 1} of ${lists.length}.`);
}

/** @param {string} label @param {string} value @param {number} max */
const field = (label, value, max) => make("input", { type: "text", value, maxLength: max, placeholder: label, "aria-label": label, required: true, autocomplete: "off", dir: "auto" });

/**
 * Shows a form in the place of an element until it is saved or canceled.
 * @param {HTMLElement} replaced @param {HTMLElement[]} fields @param {string} save the label of its button @param {() => Promise<any>} run resolves with whether to close the form
 */
function showForm(replaced, fields, save, run) {
  const close = () => {
    el.remove();
    replaced.hidden = false;
    replaced.focus({ preventScroll: true });
  };
  const el = form({ fields, save, onCancel: close, onSave: async () => { if (await run()) close(); } });
  replaced.after(el);
  replaced.hidden = true;
  /** @type {HTMLInputElement} */ (fields[0]).focus();
  /** @type {HTMLInputElement} */ (fields[0]).select();
}

/** @param {string} list */
export function addCard(list) {
  const button = /** @type {HTMLElement} */ (byId(list).querySelector("footer > button"));
  if (button.hidden) return;
  const name = field("Title of the card", "", 200);
  showForm(button, [name], "Add", async () => {
    const title = name.value.trim();
    if (!title) return true;
    const added = await change("add_card", { list, title }, `“${title}” was added.`);
    if (added) name.value = ""; // for the next card
    name.focus();
    if (added) document.getElementById(added.card.id)?.scrollIntoView({ block: "nearest" });
    return false;
  });
}

/** @param {string} id */
export function editCard(id) {
  const found = cardOf(id);
  const el = byId(id);
  if (!found || el.hidden) return;
  const original = { title: found.card.title, notes: found.card.notes ?? "" };
  const name = field("Title", original.title, 200);
  const notes = make("textarea", { value: original.notes, maxLength: 2000, placeholder: "Notes", "aria-label": "Notes", dir: "auto" });
  showForm(el, [name, notes], "Save", async () => {
    if (!cardOf(id)) {
      toast("This card was removed meanwhile.");
      return true;
    }
    // Others may have changed the card too, so only what was edited here is sent.
    const title = name.value === original.title ? undefined : name.value;
    const text = notes.value === original.notes ? undefined : notes.value;
    const seen = { title: title === undefined ? undefined : original.title, notes: text === undefined ? undefined : original.notes };
    const saved = await change("edit_card", { card: id, title, notes: text, seen }, "Saved.");
    const now = cardOf(id)?.card;
    if (!saved && now) { // the reason was shown: saving again replaces what another one wrote
      if (title === undefined) name.value = now.title;
      if (text === undefined) notes.value = now.notes ?? "";
      Object.assign(original, { title: now.title, notes: now.notes ?? "" });
    }
    return saved;
  });
}

/** @param {string} id */
export function renameList(id) {
  const list = listOf(id);
  const head = /** @type {HTMLElement} */ (byId(id).querySelector("header"));
  if (!list || head.hidden) return;
  const name = field("Title of the list", list.title, 200);
  let seen = list.title;
  showForm(head, [name], "Save", async () => {
    const saved = await change("rename_list", { list: id, title: name.value, seen: { title: seen } }, "Saved.");
    if (!saved) seen = listOf(id)?.title ?? seen; // as in editCard
    return saved;
  });
}

export function addList() {
  const bar = byId("add-list");
  const name = field("Title of the list", "", 200);
  showForm(bar, [name], "Add", () => {
    const title = name.value.trim();
    return title ? change("add_list", { title }, `List “${title}” was added.`) : Promise.resolve(true);
  });
}
