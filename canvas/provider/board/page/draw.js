// @ts-check
// Draws a state by changing the existing elements, so that focus, open forms and
// unfinished input survive changes by others.
import { byId, make } from "./ui.js";
import { glyph } from "./icons.js";
import { icon } from "./parts.js";
import { addCard, addList, editCard, moveList, removeCard, removeList, renameList, tick } from "./edit.js";
import { announceDifference } from "./difference.js";
import { drawNotes } from "./notes.js";

/** @typedef {import("./board.js").State} State */
/** @typedef {import("./board.js").List} List */
/** @typedef {import("./board.js").Card} Card */

const board = byId("board");
let started = false;
/** @type {Set<string>} Ids of all cards of the state; the element of a card that changed its list is moved */
let cardIds = new Set();
/** @type {State} What the person sees: the latest state, but for one that waits for the end of a drag */
let drawn = { revision: 0, title: "", lists: [] };

/** Returns what the page shows of a card, for the member seen of a change. @param {string} id */
export function seenCard(id) {
  for (const list of drawn.lists) {
    const card = list.cards.find((c) => c.id === id);
    if (card) return { title: card.title, notes: card.notes ?? "", list: list.id };
  }
  return undefined;
}

/** Returns what the page shows of a list, for the member seen of a change. @param {string} id */
export function seenList(id) {
  const list = drawn.lists.find((l) => l.id === id);
  return list && { title: list.title, cards: Object.fromEntries(list.cards.map((c) => [c.id, c.title])) };
}

/** @param {State} state @param {State} [before] the previous state, to mark and announce what changed */
export function draw(state, before) {
  if (!started) {
    started = true;
    byId("add-list").onclick = () => addList();
    document.body.setAttribute("aria-busy", "false");
  }
  if (board.querySelector(".held")) return postpone(state, before); // a card is being dragged
  drawn = state;
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  head(state);
  cardIds = new Set(state.lists.flatMap((l) => l.cards.map((c) => c.id)));
  const fresh = new Set(before ? cardIds : []);
  before?.lists.forEach((l) => l.cards.forEach((c) => fresh.delete(c.id)));

  sync(board, state.lists, ".list", makeList, updateList);
  for (const l of state.lists) {
    const cards = /** @type {HTMLElement} */ (byId(l.id).querySelector(".cards"));
    sync(cards, l.cards, ".card", makeCard, updateCard);
  }
  fresh.forEach((id) => document.getElementById(id)?.classList.add("fresh"));
  updateTabStop();
  if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
  if (before) announceDifference(before, state);
}

/** @type {{ state: State, before?: State } | undefined} */
let postponed;
/** @param {State} state @param {State} [before] */
function postpone(state, before) { postponed = { state, before: postponed?.before ?? before }; }

/** Draws the newest state that arrived during a drag. */
export function drawPostponed() {
  const p = postponed;
  postponed = undefined;
  if (p) draw(p.state, p.before);
}

/** @param {State} state */
function head(state) {
  document.title = state.title;
  byId("title").textContent = state.title;
  const cards = state.lists.flatMap((l) => l.cards), done = cards.filter((c) => c.done).length;
  byId("progress").textContent = cards.length ? `${done} of ${cards.length} done` : "No cards yet";
  const meter = /** @type {HTMLProgressElement} */ (byId("meter"));
  meter.max = Math.max(cards.length, 1);
  meter.value = done;
  const message = byId("message");
  message.hidden = state.lists.length > 0;
  message.textContent = "This board has no lists. Add one, or ask the agent.";
}

/**
 * Makes the children of a parent match the items, in their order. Existing elements
 * are kept.
 * @template {{ id: string }} T
 * @param {HTMLElement} parent @param {T[]} items @param {string} kind selector of the elements
 * @param {(item: T) => HTMLElement} create @param {(el: HTMLElement, item: T) => void} update
 */
function sync(parent, items, kind, create, update) {
  const wanted = new Set(items.map((i) => i.id));
  for (const el of /** @type {HTMLElement[]} */ ([...parent.children])) {
    if (el.matches(kind) && !wanted.has(el.id) && !cardIds.has(el.id)) remove(el);
  }
  let next = /** @type {Element | null} */ (parent.querySelector(`:scope > ${kind}`));
  for (const item of items) {
    const el = document.getElementById(item.id) ?? create(item);
    update(el, item);
    if (el === next) next = nextOf(el, kind);
    else parent.insertBefore(el, next ?? parent.querySelector(":scope > .end"));
  }
}

/** Returns the next sibling of a kind. @param {Element} el @param {string} kind */
function nextOf(el, kind) {
  let next = el.nextElementSibling;
  while (next && !next.matches(kind)) next = next.nextElementSibling;
  return next;
}

/** Removes an element, and moves the focus from it to a neighbor. @param {HTMLElement} el */
function remove(el) {
  if (el.contains(document.activeElement)) {
    const near = /** @type {HTMLElement | null} */ (el.nextElementSibling?.matches(".card") ? el.nextElementSibling : el.previousElementSibling?.matches(".card") ? el.previousElementSibling : el.closest(".list")?.querySelector("footer > button"));
    (near ?? byId("add-list")).focus({ preventScroll: true });
  }
  el.remove();
}

/** Ensures that the Tab key stops at one card; keys.js makes it the one that was focused last. */
function updateTabStop() {
  const cards = /** @type {HTMLElement[]} */ ([...board.querySelectorAll(".card")]);
  if (cards.some((c) => c.tabIndex === 0)) return;
  if (cards[0]) cards[0].tabIndex = 0;
}

/** @param {List} list */
function makeList(list) {
  const id = list.id;
  return make("section", { id, className: "list", "aria-labelledby": `${id}-name` },
    make("header", {},
      make("h2", { id: `${id}-name` }, make("span", { className: "text", dir: "auto" }), make("span", { className: "quiet count" })),
      Object.assign(icon("more", "Commands for list", toggleCommands), { ariaExpanded: "false" }),
      make("div", { className: "side" },
        icon("edit", "Rename list", () => renameList(id)),
        icon("earlier", "Move list left", () => moveList(id, -1)),
        icon("later", "Move list right", () => moveList(id, 1)),
        icon("close", "Remove list", () => removeList(id)))),
    make("ul", { className: "cards" }),
    make("footer", {}, make("button", { type: "button", className: "plain add", onclick: () => addCard(id) }, "+ Add a card")));
}

/** Shows the commands of a list or a card, where nothing hovers. @param {Event} e */
function toggleCommands(e) {
  const button = /** @type {HTMLElement} */ (e.currentTarget);
  const shown = button.parentElement?.classList.toggle("commands") ?? false;
  button.ariaExpanded = String(shown);
}

/** @param {HTMLElement} el @param {List} list */
function updateList(el, list) {
  write(el, ".text", list.title);
  write(el, ".count", String(list.cards.length));
  for (const b of /** @type {HTMLElement[]} */ ([...el.querySelectorAll("header .icon")])) {
    const what = b.title.split(" “")[0];
    b.setAttribute("aria-label", `${what} “${list.title}”`);
  }
  el.querySelector(".add")?.setAttribute("aria-label", `Add a card to “${list.title}”`);
}

/** @param {Card} card */
function makeCard(card) {
  const id = card.id;
  return make("li", { id, className: "card", tabIndex: -1, "aria-roledescription": "card", "aria-keyshortcuts": "Space Enter Delete N Shift+ArrowUp Shift+ArrowDown Shift+ArrowLeft Shift+ArrowRight" },
    make("input", { type: "checkbox", className: "tick", tabIndex: -1, onchange: () => tick(id) }),
    make("div", { className: "name", id: `${id}-name`, dir: "auto" }),
    Object.assign(icon("more", "Commands for card", toggleCommands), { ariaExpanded: "false", tabIndex: -1 }),
    make("div", { className: "side" },
      make("span", { className: "icon grip quiet", "aria-hidden": "true", title: "Drag" }, glyph("grip")),
      Object.assign(icon("edit", "Edit card", () => editCard(id)), { tabIndex: -1 }),
      Object.assign(icon("close", "Remove card", () => removeCard(id)), { tabIndex: -1 })),
    make("div", { className: "notes", dir: "auto" }));
}

/** @param {HTMLElement} el @param {Card} card */
function updateCard(el, card) {
  write(el, ".name", card.title);
  drawNotes(/** @type {HTMLElement} */ (el.querySelector(".notes")), card.notes ?? "");
  el.classList.toggle("done", card.done);
  const box = /** @type {HTMLInputElement} */ (el.querySelector(".tick"));
  box.checked = card.done;
  box.setAttribute("aria-label", `Done: ${card.title}`);
  el.setAttribute("aria-label", `${card.title}${card.done ? ", done" : ""}${card.notes ? `. ${card.notes}` : ""}`);
}

/** @param {HTMLElement} el @param {string} selector @param {string} text */
function write(el, selector, text) {
  const at = /** @type {HTMLElement} */ (el.querySelector(selector));
  if (at.textContent !== text) at.textContent = text;
}
