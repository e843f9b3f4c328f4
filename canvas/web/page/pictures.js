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
const TALL = 2; // of its width: what is below is cut off, and the picture fades out there
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

/** Draws a sketch as a whole. @param {Sketch} sketch @param {boolean} [turned] with light and dark exchanged */
export function drawSketch({ width, height, ground, shapes }, turned = false) {
  const tall = Math.min(height, width * TALL);
  const svg = draw("svg", { class: `sketch${tall < height ? " cut" : ""}${turned ? " turned" : ""}`, viewBox: `0 0 ${width} ${tall}`, preserveAspectRatio: "xMidYMid meet", "aria-hidden": "true" });
  if (ground !== "none") svg.style.background = ground; // beside a picture that is narrower or lower than its place
  svg.append(draw("rect", { class: "ground", width, height: tall, fill: ground }), ...shapes.filter((s) => s.t === "line" || s.y < tall).map(drawn));
  return svg;
}

const theme = () => document.documentElement.dataset.colorMode ?? "";

/** Whether a color is dark; undefined if that is not known. @param {string} color */
function isDark(color) {
  const [, r, g, b] = /^rgba?\((\d+), (\d+), (\d+)/.exec(color) ?? [];
  return r === undefined ? undefined : 0.3 * Number(r) + 0.6 * Number(g) + 0.1 * Number(b) < 128;
}

/** Whether a picture is of another theme than the page has now, in a canvas that follows the theme. @param {Taken} taken */
const outdated = ({ sketch, mode }) => mode !== theme() && (isDark(sketch.ground) ?? mode === "dark") === (mode === "dark");

/** mode: the theme of the page then. @typedef {{ sketch: Sketch, mode: string }} Taken */

export class Pictures {
  /** @type {Map<string, Taken>} by channel */ #kept = new Map();
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

  /** The page has another theme: has the visible canvases sketched when they have drawn it. The pictures of the others are turned until they are seen. @param {Map<string, Card>} cards */
  async themed(cards) {
    await new Promise((done) => { setTimeout(done, SETTLED); });
    await this.refresh(cards.values());
  }

  /** @param {Card} card */
  async #take(card) {
    if (card.private || card.element.hidden || card.phase !== "live" || this.#taking.has(card)) return;
    this.#taking.add(card);
    const mode = theme(), sketch = cleanedSketch(await card.frame.sketch());
    this.#taking.delete(card);
    if (sketch && !card.private && card.element.isConnected) this.#kept.set(card.ref.channel, { sketch, mode });
  }

  /** The picture of a canvas. @param {Card | undefined} card @returns {Element | undefined} undefined if there is none */
  of(card) {
    if (!card) return undefined;
    if (card.private) this.forget(card);
    const taken = this.#kept.get(card.ref.channel);
    return taken && drawSketch(taken.sketch, outdated(taken));
  }

  /** @param {Card} card */
  forget(card) {
    this.#kept.delete(card.ref.channel);
  }
}
