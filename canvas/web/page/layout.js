// @ts-check
// The layout of the canvases: their order, which ones are panes, their sizes, which are
// pinned, and which one is maximized. It is stored in this browser, by session. Narrow
// windows show the current canvas alone. layoutdraw.js puts the cards into their places.
import { drag } from "./drag.js";
import { addLayer } from "./layers.js";
import { drawLayout } from "./layoutdraw.js";
import { keepLayout, keptLayout, MAX_REMEMBERED, resizable } from "./layoutsize.js";

const MAX_PANES = 6;
const FEW = 4; // panes at first, if more than MAX_PANES canvases are open

/** @typedef {import("./layoutsize.js").Size} Size */

export class Layout {
  #main; #key;
  /** @type {Map<string, HTMLElement>} the open ones, by instance id */ #cards = new Map();
  /** @type {string[]} */ #order = [];
  /** @type {Set<string>} */ #panes = new Set();
  /** @type {Set<string>} */ #pinned = new Set();
  /** @type {Record<string, Size>} */ #sizes = Object.create(null);
  /** @type {Record<string, number>} Heights that canvases asked for, in rem */ #suggested = Object.create(null);
  /** @type {string | undefined} */ #maximized;
  /** @type {string | undefined} The canvas that was used or chosen last */ #current;
  /** @type {Set<string> | undefined} The canvases that become panes; undefined for each that has a place */ #chosen;
  #narrow = matchMedia("(max-width: 48rem)");
  #changedBy;
  /** @type {(() => void) | undefined} */ #unlayer;

  /** @param {HTMLElement} main @param {string} session @param {() => void} [changed] called when other canvases are shown, or another one is current */
  constructor(main, session, changed = () => {}) {
    this.#main = main;
    this.#key = `layout ${session}`;
    this.#changedBy = changed;
    this.#restore();
    this.#layer();
    this.#narrow.addEventListener("change", () => this.apply());
  }

  /** Decides which of the canvases that will be adopted become panes. @param {string[]} ids all open ones */
  prepare(ids) {
    this.#chosen = undefined;
    if (ids.length <= MAX_PANES) return;
    const kept = ids.filter((id) => this.#panes.has(id));
    this.#chosen = new Set(kept.length ? kept : ids.slice(-FEW));
  }

  /** Adds a card and sets up its buttons; apply then shows it. @param {string} id @param {HTMLElement} card */
  adopt(id, card) {
    this.#cards.set(id, card);
    const known = this.#order.includes(id);
    if (!known) this.#order.push(id);
    if (this.#chosen ? this.#chosen.has(id) : this.#panesNow().length < MAX_PANES && !(known && this.#putAway.has(id))) this.#panes.add(id);
    const on = (/** @type {string} */ selector, /** @type {() => void} */ fn) => card.querySelector(selector)?.addEventListener("click", fn);
    on(".earlier", () => this.move(id, -1));
    on(".later", () => this.move(id, 1));
    on(".maximize", () => this.maximize(id));
    const head = /** @type {HTMLElement} */ (card.querySelector("header"));
    head.addEventListener("dblclick", (e) => { if (!(/** @type {Element} */ (e.target).closest("button"))) this.maximize(id); });
    drag(head, (e) => this.#dropOn(id, e));
    const grip = /** @type {HTMLElement} */ (card.querySelector(".grip"));
    resizable(grip, card, this.#main, (size) => {
      this.#sizes[id] = { ...this.#sizes[id], ...size };
      this.#changed();
    });
  }

  /** Canvases that a person put away. @type {Set<string>} */
  #putAway = new Set();

  /** @param {string} id */
  release(id) {
    this.#cards.delete(id);
    delete this.#suggested[id];
    for (const set of [this.#panes, this.#pinned, this.#putAway]) set.delete(id);
    if (this.#maximized === id) this.#setMaximized(undefined);
    if (this.#current === id) this.#current = undefined;
    const old = this.#order.length - MAX_REMEMBERED;
    this.#order = this.#order.filter((one, i) => i >= old || this.#cards.has(one));
    for (const one of Object.keys(this.#sizes)) if (!this.#order.includes(one)) delete this.#sizes[one];
    if (!this.#panesNow().length && this.#cards.size) this.#panes.add(this.all[this.all.length - 1]);
    this.apply();
  }

  /** All open canvases, in order, without those whose close can still be undone. */
  get all() {
    return this.#order.filter((id) => this.#cards.has(id) && this.#cards.get(id)?.dataset.closing !== "here");
  }

  /** The canvases that a person sees now, in order. */
  get visible() {
    const { current } = this;
    if (current === undefined) return [];
    if (this.#narrow.matches) return [current];
    if (this.#maximized !== undefined && this.all.includes(this.#maximized)) return [this.#maximized];
    const panes = this.#panesNow();
    return panes.length ? panes : [current];
  }

  /** The canvas that was used or chosen last; undefined if none is open. */
  get current() {
    if (this.#current !== undefined && this.all.includes(this.#current)) return this.#current;
    return this.#panesNow().at(-1) ?? this.all.at(-1);
  }

  /** Sorts canvases: the current one, the others that a person sees, and the rest. @param {string[]} ids */
  seenFirst(ids) {
    const { visible, current } = this;
    const place = (/** @type {string} */ id) => (id === current ? 0 : visible.includes(id) ? 1 : 2);
    return ids.toSorted((a, b) => place(a) - place(b));
  }

  get maximized() {
    return this.#maximized;
  }

  /** @param {string} id */
  isPinned(id) {
    return this.#pinned.has(id);
  }

  /** @param {string} id */
  isPane(id) {
    return this.#panes.has(id);
  }

  #panesNow() {
    return this.all.filter((id) => this.#panes.has(id));
  }

  /** Notes that a person uses a canvas. @param {string} id */
  use(id) {
    if (this.#current === id || !this.#cards.has(id)) return;
    this.#current = id;
    this.#store();
    this.#changedBy();
  }

  /** Shows a canvas: in its pane, or in the place of another one that is not pinned. @param {string} id */
  show(id) {
    if (!this.#cards.has(id)) return;
    if (this.#maximized !== undefined) this.#setMaximized(id);
    if (!this.#panes.has(id)) this.#place(id, this.#replaceable());
    this.#current = id;
    this.#changed();
  }

  /** The pane whose place another canvas takes: the current one, unless it is pinned. */
  #replaceable() {
    const free = this.#panesNow().filter((id) => !this.#pinned.has(id));
    const { current } = this;
    return current !== undefined && free.includes(current) ? current : free.at(-1);
  }

  /** Makes a canvas a pane in the place of another one. @param {string} id @param {string | undefined} other undefined adds a pane */
  #place(id, other) {
    this.#putAway.delete(id);
    this.#panes.add(id);
    if (other === undefined) return;
    this.#panes.delete(other);
    this.#exchange(id, other);
  }

  /** Splits: shows a canvas beside the others. @param {string} id @param {string} [at] the neighbor @param {boolean} [before] */
  beside(id, at = this.current, before = false) {
    if (!this.#cards.has(id)) return;
    this.#setMaximized(undefined);
    if (!this.#panes.has(id) && this.#panesNow().length >= MAX_PANES) {
      const last = this.#panesNow().findLast((one) => one !== at && !this.#pinned.has(one));
      if (last) this.#panes.delete(last);
    }
    this.#place(id, undefined);
    if (at !== undefined && at !== id) {
      this.#order = this.#order.filter((one) => one !== id);
      this.#order.splice(this.#order.indexOf(at) + (before ? 0 : 1), 0, id);
    }
    this.#current = id;
    this.#changed();
  }

  /** Takes a canvas out of the panes; it stays open. @param {string} id */
  putAway(id) {
    if (this.#panesNow().length < 2) return;
    if (this.#maximized === id) this.#setMaximized(undefined);
    this.#panes.delete(id);
    this.#pinned.delete(id);
    this.#putAway.add(id);
    if (this.#current === id) this.#current = undefined;
    this.#changed();
  }

  /** Pins a pane, which then keeps its place, or frees it. @param {string} id */
  pin(id) {
    if (!this.#pinned.delete(id)) {
      if (!this.#panes.has(id)) this.beside(id);
      this.#pinned.add(id);
    }
    this.#changed();
  }

  apply() {
    const maximized = this.#maximized !== undefined && this.all.includes(this.#maximized) ? this.#maximized : undefined;
    /** @type {Record<string, Size>} */ const sizes = Object.create(null);
    for (const id of this.#cards.keys()) sizes[id] = { ...this.#sizes[id], height: this.#sizes[id]?.height ?? this.#suggested[id] };
    drawLayout(this.#main, this.#cards, this.visible, { sizes, maximized });
    this.#changedBy();
  }

  /** Exchanges a pane with its neighbor. @param {string} id @param {number} by */
  move(id, by) {
    const shown = this.#panesNow();
    this.#swap(id, shown[shown.indexOf(id) + by]);
  }

  /** @param {string} id @param {string | undefined} other */
  #swap(id, other) {
    if (!other || other === id) return;
    this.#exchange(id, other);
    this.#changed();
  }

  /** @param {string} id @param {string} other */
  #exchange(id, other) {
    const a = this.#order.indexOf(id), b = this.#order.indexOf(other);
    [this.#order[a], this.#order[b]] = [other, id];
  }

  /** Maximizes a canvas, or ends that. @param {string} id */
  maximize(id) {
    this.#current = id;
    this.#setMaximized(this.#maximized === id ? undefined : id);
    this.#changed();
  }

  /** Gives a card the height that its canvas asked for first, unless a person has chosen one. @param {string} id @param {number} height rem */
  suggest(id, height) {
    if (!this.#cards.has(id) || this.#suggested[id] !== undefined || this.#sizes[id]?.height !== undefined) return;
    this.#suggested[id] = height;
    this.apply();
  }

  /** @param {string | undefined} id */
  #setMaximized(id) {
    this.#maximized = id;
    this.#layer();
  }

  /** Lets Escape end the maximizing. */
  #layer() {
    this.#unlayer?.();
    this.#unlayer = this.#maximized === undefined ? undefined : addLayer(() => { if (this.#maximized) this.maximize(this.#maximized); });
  }

  /** @param {PointerEvent} e @returns {string | undefined} the canvas at a point */
  #at(e) {
    const under = document.elementFromPoint(e.clientX, e.clientY)?.closest(".card");
    for (const [id, card] of this.#cards) if (card === under) return id;
    return undefined;
  }

  /** @param {string} id @param {PointerEvent} e */
  #dropOn(id, e) {
    this.#swap(id, this.#at(e));
  }

  /** Shows where a tab that is dragged would be put, and puts it there when it is dropped. @param {string} id @param {PointerEvent} e @param {boolean} dropped */
  splitAt(id, e, dropped) {
    const at = this.#at(e);
    const card = at === undefined ? undefined : this.#cards.get(at);
    const box = card?.getBoundingClientRect();
    const before = box !== undefined && e.clientX < box.left + box.width / 2;
    for (const one of this.#cards.values()) delete one.dataset.drop;
    if (!card || at === id) return;
    if (dropped) this.beside(id, at, before);
    else card.dataset.drop = before ? "before" : "after";
  }

  #changed() {
    this.#store();
    this.apply();
  }

  #store() {
    keepLayout(this.#key, { order: this.#order.slice(-MAX_REMEMBERED), sizes: this.#sizes, current: this.#current, maximized: this.#maximized, panes: this.#panes, pinned: this.#pinned, away: this.#putAway });
  }

  #restore() {
    const kept = keptLayout(this.#key);
    if (kept) ({ order: this.#order, sizes: this.#sizes, current: this.#current, maximized: this.#maximized, panes: this.#panes, pinned: this.#pinned, away: this.#putAway } = kept);
  }
}
