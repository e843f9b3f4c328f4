// @ts-check
// The layout of the canvases: order, width, height, and which one is maximized,
// by mouse and by keyboard. It is stored in this browser, by session. Cards are
// ordered visually, and in the document (for the Tab key) only if the browser can
// move a frame without reloading it (moveBefore).

const COLUMNS = 12, MIN_SPAN = 3;
const MIN_HEIGHT = 16, MAX_HEIGHT = 80, STEP = 4; // rem
const MAX_REMEMBERED = 64; // canvases of one session

/** @typedef {{ span?: number, height?: number }} Size */

export class Layout {
  #main; #key;
  /** @type {Map<string, HTMLElement>} the open ones, by instance id */ #cards = new Map();
  /** @type {string[]} */ #order = [];
  /** @type {Record<string, Size>} */ #sizes = Object.create(null);
  /** @type {string | undefined} */ #maximized;

  /** @param {HTMLElement} main @param {string} session */
  constructor(main, session) {
    this.#main = main;
    this.#key = `layout ${session}`;
    this.#restore();
    addEventListener("keydown", (e) => { if (e.key === "Escape" && this.#maximized) this.#maximize(this.#maximized); });
  }

  /** Adds a card and sets up its buttons. @param {string} id @param {HTMLElement} card */
  adopt(id, card) {
    this.#cards.set(id, card);
    if (!this.#order.includes(id)) this.#order.push(id);
    const on = (/** @type {string} */ selector, /** @type {() => void} */ fn) => card.querySelector(selector)?.addEventListener("click", fn);
    on(".earlier", () => this.#move(id, -1));
    on(".later", () => this.#move(id, 1));
    on(".maximize", () => this.#maximize(id));
    const head = /** @type {HTMLElement} */ (card.querySelector("header"));
    head.addEventListener("dblclick", (e) => { if (!(/** @type {Element} */ (e.target).closest("button"))) this.#maximize(id); });
    this.#drag(head, (e) => this.#dropOn(id, e));
    const grip = /** @type {HTMLElement} */ (card.querySelector(".grip"));
    this.#drag(grip, (e) => this.#resizeTo(id, e));
    grip.addEventListener("keydown", (e) => this.#onKey(id, e));
    this.apply();
  }

  /** @param {string} id */
  release(id) {
    this.#cards.delete(id);
    if (this.#maximized === id) this.#maximized = undefined;
    const old = this.#order.length - MAX_REMEMBERED;
    this.#order = this.#order.filter((one, i) => i >= old || this.#cards.has(one));
    for (const one of Object.keys(this.#sizes)) if (!this.#order.includes(one)) delete this.#sizes[one];
    this.apply();
  }

  apply() {
    const shown = this.#shown();
    const defaultSpan = shown.length === 1 ? 12 : shown.length === 2 || shown.length === 4 ? 6 : 4;
    const one = this.#maximized !== undefined && shown.includes(this.#maximized) ? this.#maximized : undefined;
    this.#main.dataset.maximized = String(one !== undefined);
    shown.forEach((id, i) => {
      const card = /** @type {HTMLElement} */ (this.#cards.get(id));
      const { span = defaultSpan, height } = this.#sizes[id] ?? {};
      card.style.order = String(i);
      card.style.setProperty("--span", String(span));
      card.style.setProperty("--height", height ? `${height}rem` : "0");
      card.hidden = one !== undefined && one !== id;
      const grip = card.querySelector(".grip");
      grip?.setAttribute("aria-valuenow", String(span));
      grip?.setAttribute("aria-valuetext", `${span} of ${COLUMNS} columns${height ? `, ${height} rem high` : ""}`);
      card.querySelector(".maximize")?.setAttribute("aria-pressed", String(one === id));
      card.querySelector(".earlier")?.setAttribute("aria-disabled", String(i === 0));
      card.querySelector(".later")?.setAttribute("aria-disabled", String(i === shown.length - 1));
    });
    this.#sortDocument(shown);
  }

  #shown() {
    return this.#order.filter((id) => this.#cards.has(id) && this.#cards.get(id)?.dataset.closing !== "here");
  }

  /** Puts the cards in document order, if that does not reload their frames. @param {string[]} shown */
  #sortDocument(shown) {
    const main = /** @type {any} */ (this.#main);
    if (!main.moveBefore) return;
    /** @type {Element | null} */
    let after = null;
    for (const id of shown.toReversed()) {
      const card = /** @type {HTMLElement} */ (this.#cards.get(id));
      if (card.parentNode === main && card.nextElementSibling !== after) main.moveBefore(card, after);
      after = card;
    }
  }

  /** @param {string} id @param {number} by */
  #move(id, by) {
    const shown = this.#shown();
    this.#swap(id, shown[shown.indexOf(id) + by]);
  }

  /** @param {string} id @param {string | undefined} other */
  #swap(id, other) {
    if (!other || other === id) return;
    const a = this.#order.indexOf(id), b = this.#order.indexOf(other);
    [this.#order[a], this.#order[b]] = [other, id];
    this.#changed();
  }

  /** Brings a canvas into view, also if another one is maximized. @param {string} id */
  show(id) {
    if (this.#maximized !== undefined && this.#maximized !== id) this.#maximize(id);
    const card = this.#cards.get(id);
    card?.scrollIntoView({ block: "nearest" });
    card?.querySelector("iframe")?.focus();
  }

  /** @param {string} id */
  #maximize(id) {
    this.#maximized = this.#maximized === id ? undefined : id;
    this.#changed();
  }

  /** @param {string} id @param {Size} size */
  #resize(id, size) {
    const clamp = (/** @type {number} */ n, /** @type {number} */ low, /** @type {number} */ high) => Math.min(high, Math.max(low, Math.round(n)));
    const next = { ...this.#sizes[id] };
    if (size.span !== undefined) next.span = clamp(size.span, MIN_SPAN, COLUMNS);
    if (size.height !== undefined) next.height = clamp(size.height, MIN_HEIGHT, MAX_HEIGHT);
    this.#sizes[id] = next;
    this.#changed();
  }

  /** @param {string} id @param {KeyboardEvent} e */
  #onKey(id, e) {
    const card = /** @type {HTMLElement} */ (this.#cards.get(id));
    const span = Number(card.style.getPropertyValue("--span"));
    const height = card.offsetHeight / rem();
    switch (e.key) {
      case "ArrowRight": this.#resize(id, { span: span + 1 }); break;
      case "ArrowLeft": this.#resize(id, { span: span - 1 }); break;
      case "ArrowDown": this.#resize(id, { height: height + STEP }); break;
      case "ArrowUp": this.#resize(id, { height: height - STEP }); break;
      default: return;
    }
    e.preventDefault();
  }

  /** @param {string} id @param {PointerEvent} e */
  #dropOn(id, e) {
    const under = document.elementFromPoint(e.clientX, e.clientY)?.closest(".card");
    for (const [other, card] of this.#cards) if (card === under) this.#swap(id, other);
  }

  /** @param {string} id @param {PointerEvent} e */
  #resizeTo(id, e) {
    const box = /** @type {HTMLElement} */ (this.#cards.get(id)).getBoundingClientRect();
    const column = this.#main.clientWidth / COLUMNS;
    this.#resize(id, { span: (e.clientX - box.left) / column, height: (e.clientY - box.top) / rem() });
  }

  /** Tracks the pointer from press to release. The class dragging disables the frames, which would take its events. @param {HTMLElement} handle @param {(e: PointerEvent) => void} moved */
  #drag(handle, moved) {
    handle.addEventListener("pointerdown", (e) => {
      if (e.button !== 0 || /** @type {Element} */ (e.target).closest("button")) return;
      handle.setPointerCapture(e.pointerId);
      document.body.classList.add("dragging");
      const over = new AbortController(), { signal } = over;
      handle.addEventListener("pointermove", moved, { signal });
      // On window: a handle whose canvas is closed meanwhile gets no event, and the frames would stay disabled.
      for (const end of ["lostpointercapture", "pointerup", "pointercancel"]) {
        addEventListener(end, (/** @type {any} */ { pointerId }) => {
          if (pointerId !== e.pointerId) return;
          document.body.classList.remove("dragging");
          over.abort();
        }, { signal });
      }
    });
  }

  #changed() {
    const order = this.#order.slice(-MAX_REMEMBERED);
    const sizes = Object.fromEntries(order.filter((id) => this.#sizes[id]).map((id) => [id, this.#sizes[id]]));
    try {
      localStorage.setItem(this.#key, JSON.stringify({ order, sizes, maximized: this.#maximized }));
    } catch {} // storage is full or not allowed: the layout lasts until the page is closed
    this.apply();
  }

  #restore() {
    try {
      const kept = JSON.parse(localStorage.getItem(this.#key) ?? "{}");
      if (Array.isArray(kept.order)) this.#order = kept.order.filter((/** @type {unknown} */ id) => typeof id === "string");
      for (const id of this.#order) {
        const { span, height } = kept.sizes?.[id] ?? {};
        this.#sizes[id] = { span: Number(span) || undefined, height: Number(height) || undefined };
      }
      if (this.#order.includes(kept.maximized)) this.#maximized = kept.maximized;
    } catch {} // not a layout that this page stored
  }
}

const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize);
