// @ts-check
// The keyboard: Tab stops at one card, arrow keys go from card to card.
import { byId } from "./ui.js";
import { addCard, cardOf, editCard, moveCard, removeCard, tick } from "./edit.js";
import { current } from "./board.js";

/** @param {HTMLElement} board */
export function startKeys(board) {
  board.addEventListener("keydown", (e) => {
    const card = /** @type {HTMLElement} */ (e.target);
    if (!card.matches(".card") || e.ctrlKey || e.metaKey || e.altKey) return;
    const act = (e.shiftKey ? moves : keys)[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!act) return;
    e.preventDefault();
    act(card.id);
  });
  board.addEventListener("focusin", (e) => {
    const card = /** @type {HTMLElement} */ (e.target).closest?.(".card");
    if (!card) return;
    for (const other of /** @type {HTMLElement[]} */ ([...board.querySelectorAll(".card[tabindex='0']")])) other.tabIndex = -1;
    /** @type {HTMLElement} */ (card).tabIndex = 0;
  });
  const help = byId("help"), button = byId("help-button");
  button.onclick = () => {
    help.hidden = !help.hidden;
    button.setAttribute("aria-expanded", String(!help.hidden));
  };
  document.addEventListener("keydown", (e) => {
    const typing = /** @type {HTMLElement} */ (e.target).matches?.("input[type=text], textarea");
    if (e.key === "?" && !typing && !e.ctrlKey && !e.metaKey) button.click();
  });
}

/** @type {Record<string, (id: string) => void>} */
const keys = {
  ArrowUp: (id) => go(id, 0, -1), ArrowDown: (id) => go(id, 0, 1),
  ArrowLeft: (id) => go(id, -1, 0), ArrowRight: (id) => go(id, 1, 0),
  Home: (id) => go(id, 0, -Infinity), End: (id) => go(id, 0, Infinity),
  " ": tick, Enter: editCard, Delete: removeCard, Backspace: removeCard,
  n: (id) => { const f = cardOf(id); if (f) addCard(f.list.id); },
};

/** @type {Record<string, (id: string) => void>} */
const moves = {
  ArrowUp: (id) => shift(id, 0, -1), ArrowDown: (id) => shift(id, 0, 1),
  ArrowLeft: (id) => shift(id, -1, 0), ArrowRight: (id) => shift(id, 1, 0),
};

/** Focuses a neighbor; empty lists are skipped. @param {string} id @param {number} across @param {number} down */
function go(id, across, down) {
  const found = cardOf(id);
  if (!found) return;
  const lists = current().lists;
  let target = found.list;
  if (across) {
    let at = lists.indexOf(found.list) + across;
    while (lists[at] && !lists[at].cards.length) at += across;
    if (!lists[at]) return;
    target = lists[at];
  }
  const at = Math.max(0, Math.min(found.at + (across ? 0 : down), target.cards.length - 1));
  const el = byId(target.cards[at].id);
  el.focus();
  el.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** @type {Promise<any>} The moves by key. Each starts where the one before it has ended */
let moved = Promise.resolve();

/** @param {string} id @param {number} across @param {number} down */
function shift(id, across, down) {
  moved = moved.then(() => {
    const found = cardOf(id);
    if (!found) return undefined;
    const lists = current().lists, target = lists[lists.indexOf(found.list) + across];
    return target && moveCard(id, target.id, across ? Math.min(found.at, target.cards.length) : found.at + down);
  });
}
