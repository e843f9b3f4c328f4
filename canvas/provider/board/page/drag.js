// @ts-check
// Dragging of cards by pointer events, for mouse, pen and touch. A mouse can drag a card
// anywhere; a finger drags its grip, because it scrolls elsewhere.
import { moveCard } from "./edit.js";
import { drawPostponed, seenCard } from "./draw.js";
import { redraw } from "./board.js";

const THRESHOLD = 6; // px until a press becomes a drag
const EDGE = 48; // px from the board's edge at which it scrolls

/** @param {HTMLElement} board */
export function startDrag(board) {
  board.addEventListener("pointerdown", (e) => {
    const at = /** @type {HTMLElement} */ (e.target), card = /** @type {HTMLElement | null} */ (at.closest(".card"));
    if (!card || e.button !== 0 || at.closest("button, input, textarea, a")) return;
    if (e.pointerType === "touch" && !at.closest(".grip")) return;
    new Drag(board, card, e);
  });
}

class Drag {
  #board; #card; #start; #next; #parent;
  /** @type {HTMLElement | undefined} */ #ghost;
  #stop = new AbortController();

  /** @param {HTMLElement} board @param {HTMLElement} card @param {PointerEvent} e */
  constructor(board, card, e) {
    this.#board = board;
    this.#card = card;
    this.#start = { x: e.clientX, y: e.clientY, id: e.pointerId };
    this.#parent = card.parentElement;
    this.#next = card.nextSibling;
    const { signal } = this.#stop;
    addEventListener("pointermove", (m) => this.#move(m), { signal });
    addEventListener("pointerup", (m) => this.#end(m, true), { signal });
    addEventListener("pointercancel", (m) => this.#end(m, false), { signal });
    addEventListener("keydown", (k) => { if (k.key === "Escape") this.#cancel(); }, { signal });
  }

  /** @param {PointerEvent} e */
  #move(e) {
    if (e.pointerId !== this.#start.id) return;
    const dx = e.clientX - this.#start.x, dy = e.clientY - this.#start.y;
    if (!this.#ghost && Math.hypot(dx, dy) < THRESHOLD) return;
    const ghost = this.#ghost ??= this.#lift();
    ghost.style.transform = `translate(${dx}px, ${dy}px)`;
    e.preventDefault();
    this.#scroll(e);
    this.#place(e.clientX, e.clientY);
  }

  #lift() {
    const box = this.#card.getBoundingClientRect();
    const ghost = /** @type {HTMLElement} */ (this.#card.cloneNode(true));
    ghost.removeAttribute("id");
    ghost.setAttribute("aria-hidden", "true");
    ghost.inert = true;
    ghost.classList.add("ghost");
    Object.assign(ghost.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px` });
    document.body.append(ghost);
    document.body.classList.add("dragging");
    this.#card.classList.add("held");
    return ghost;
  }

  /** Moves the dragged card to where it would be dropped. @param {number} x @param {number} y */
  #place(x, y) {
    const list = document.elementsFromPoint(x, y).map((el) => el.closest(".list")).find(Boolean);
    for (const l of this.#board.querySelectorAll(".list")) l.classList.toggle("over", l === list);
    const cards = list?.querySelector(".cards");
    if (!cards) return;
    const below = [...cards.querySelectorAll(".card:not(.held)")].find((c) => {
      const box = c.getBoundingClientRect();
      return y < box.top + box.height / 2;
    });
    if (this.#card.parentElement !== cards || this.#card.nextElementSibling !== (below ?? null)) cards.insertBefore(this.#card, below ?? null);
  }

  /** @param {PointerEvent} e */
  #scroll(e) {
    const box = this.#board.getBoundingClientRect();
    if (e.clientX < box.left + EDGE) this.#board.scrollBy(-12, 0);
    else if (e.clientX > box.right - EDGE) this.#board.scrollBy(12, 0);
  }

  /** @param {PointerEvent} e @param {boolean} drop */
  #end(e, drop) {
    if (e.pointerId !== this.#start.id) return;
    if (!drop || !this.#ghost) return this.#cancel();
    const cards = this.#card.parentElement, list = this.#card.closest(".list");
    const position = cards ? [...cards.querySelectorAll(".card")].indexOf(this.#card) : 0;
    const seen = seenCard(this.#card.id); // clean draws what arrived during the drag
    this.#clean();
    if (list) moveCard(this.#card.id, list.id, position, seen);
    this.#card.focus({ preventScroll: true });
  }

  /** Puts the card back. */
  #cancel() {
    const lifted = this.#ghost;
    this.#clean();
    if (lifted && this.#parent?.isConnected) this.#parent.insertBefore(this.#card, this.#next?.parentNode === this.#parent ? this.#next : null);
    redraw();
  }

  #clean() {
    this.#stop.abort();
    this.#ghost?.remove();
    this.#card.classList.remove("held");
    document.body.classList.remove("dragging");
    for (const l of this.#board.querySelectorAll(".over")) l.classList.remove("over");
    drawPostponed();
  }
}
