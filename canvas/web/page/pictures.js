// @ts-check
// Pictures of canvases for the list: what each one looked like when the person last saw it.
// This page cannot paint a frame of another origin, so the frame sketches its document in
// boxes and bars (content/sketch.js), without text and without what is marked private. The
// sketch is untrusted. A canvas that was not seen, is private, or is a page of another
// origin has none. Sketches stay in this page's memory.

const SVG = "http://www.w3.org/2000/svg";
const MAX_SHAPES = 400;
const MAX_SIDE = 10_000; // px
const SETTLED = 800; // ms after which a canvas that was loaded has drawn itself
const TALL = 0.7; // of its width: what is below is cut off
/** Colors as getComputedStyle returns them; nothing that names an address. */
const COLOR = /^(rgba?|hsla?|oklab|oklch|lab|lch|color)\([a-z0-9 .,%/+-]{1,80}\)$/;

/** @typedef {import("./card.js").Card} Card */
/** @typedef {{ t: "box" | "text" | "block", x: number, y: number, w: number, h: number, r: number, fill: string, line: string } | { t: "line", points: number[], line: string }} Shape */
/** @typedef {{ width: number, height: number, ground: string, shapes: Shape[] }} Sketch */

/** @param {unknown} n @param {number} [low] */
const number = (n, low = -MAX_SIDE) => (typeof n === "number" && Number.isFinite(n) ? Math.min(MAX_SIDE, Math.max(low, Math.round(n))) : 0);
/** @param {unknown} color */
const paint = (color) => (typeof color === "string" && COLOR.test(color) ? color : "none");

/** Takes from a frame's sketch what can be drawn. @param {any} seen untrusted @returns {Sketch | undefined} */
export function cleanedSketch(seen) {
  const width = number(seen?.width, 0), height = number(seen?.height, 0);
  if (width < 20 || height < 20 || !Array.isArray(seen.shapes)) return undefined;
  /** @type {Shape[]} */ const shapes = [];
  for (const s of seen.shapes.slice(0, MAX_SHAPES)) {
    if (s?.t === "line" && Array.isArray(s.points)) shapes.push({ t: "line", points: s.points.slice(0, 64).map((/** @type {unknown} */ n) => number(n)), line: paint(s.line) });
    else if (["box", "text", "block"].includes(s?.t)) shapes.push({ t: s.t, x: number(s.x), y: number(s.y), w: number(s.w, 0), h: number(s.h, 0), r: number(s.r, 0), fill: paint(s.fill), line: paint(s.line) });
  }
  return { width, height, ground: paint(seen.ground), shapes };
}

/** @param {string} tag @param {Record<string, string | number>} attributes */
function draw(tag, attributes) {
  const el = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, String(value));
  return el;
}

/** @param {Shape} s */
function drawn(s) {
  if (s.t === "line") return draw("polyline", { points: s.points.join(" "), fill: "none", stroke: s.line, "stroke-width": 5 });
  const { x, y, w, h, r, fill, line } = s;
  if (s.t === "text") return draw("rect", { x, y: y + h * 0.28, width: w, height: h * 0.44, rx: h * 0.2, fill, opacity: 0.55 });
  if (s.t === "block") return draw("rect", { class: "block", x, y, width: w, height: h });
  return draw("rect", { x, y, width: w, height: h, rx: Math.min(r, w / 2, h / 2), fill, stroke: line, "stroke-width": 2 });
}

/** Draws a sketch, from its top. @param {Sketch} sketch */
function drawSketch({ width, height, ground, shapes }) {
  const tall = Math.min(height, width * TALL);
  const svg = draw("svg", { class: "sketch", viewBox: `0 0 ${width} ${tall}`, preserveAspectRatio: "xMidYMin slice", "aria-hidden": "true" });
  svg.append(draw("rect", { class: "ground", width, height: tall, fill: ground }), ...shapes.filter((s) => s.t === "line" || s.y < tall).map(drawn));
  return svg;
}

export class Pictures {
  /** @type {Map<string, Sketch>} by channel */ #kept = new Map();
  /** @type {Set<Card>} that are being sketched */ #taking = new Set();

  /** Has a canvas sketched when the person comes to its header, from which another canvas can take its place. @param {Card} card */
  watch(card) {
    for (const type of ["pointerenter", "focusin"]) card.element.querySelector("header")?.addEventListener(type, () => this.#take(card));
  }

  /** A canvas was loaded. @param {Card} card */
  loaded(card) {
    setTimeout(() => this.#take(card), SETTLED);
  }

  /** Has the canvases that are visible sketched now. @param {Iterable<Card>} cards */
  async refresh(cards) {
    await Promise.all([...cards].map((card) => this.#take(card)));
  }

  /** @param {Card} card */
  async #take(card) {
    if (card.private || card.element.hidden || card.phase !== "live" || this.#taking.has(card)) return;
    this.#taking.add(card);
    const sketch = cleanedSketch(await card.frame.sketch());
    this.#taking.delete(card);
    if (sketch && !card.private && card.element.isConnected) this.#kept.set(card.ref.channel, sketch);
  }

  /** The picture of a canvas. @param {Card | undefined} card @returns {Element | undefined} undefined if there is none */
  of(card) {
    if (!card) return undefined;
    if (card.private) this.forget(card);
    const sketch = this.#kept.get(card.ref.channel);
    return sketch && drawSketch(sketch);
  }

  /** @param {Card} card */
  forget(card) {
    this.#kept.delete(card.ref.channel);
  }
}
