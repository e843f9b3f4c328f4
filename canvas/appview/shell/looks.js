// @ts-check
// Theme and size: what the chat gives, and what the canvas needs.
import { notify } from "./chat.js";

const MIN_HEIGHT = 240, FILL_HEIGHT = 480, MAX_HEIGHT = 640; // of the canvas, in pixels
const SIZE_EVERY = 250; // ms
const root = document.documentElement;

/** The names of canvases' tokens, of the chat's variables, and of ours. */
const TOKENS = [
  ["--background-color-default", "--color-background-primary", "--bg"],
  ["--text-color-default", "--color-text-primary", "--fg"],
  ["--text-color-muted", "--color-text-secondary", "--quiet"],
  ["--border-color-default", "--color-border-primary", "--line"],
  ["--color-focus-outline", "--color-ring-primary", "--ring"],
  ["--font-sans", "--font-sans", "--sans"],
  ["--font-mono", "--font-mono", "--mono"],
];

/** Sets our variables from the chat's, and returns the theme as canvases receive it. @param {any} context of the chat */
export function theme(context) {
  const dark = context.theme ? context.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.colorMode = dark ? "dark" : "light";
  const given = context.styles?.variables ?? {};
  for (const [, theirs, ours] of TOKENS) {
    if (typeof given[theirs] === "string") root.style.setProperty(ours, given[theirs]);
    else root.style.removeProperty(ours);
  }
  const style = getComputedStyle(root);
  return {
    mode: root.dataset.colorMode, titled: true, locale: typeof context.locale === "string" ? context.locale : navigator.language,
    tokens: Object.fromEntries(TOKENS.map(([name, , ours]) => [name, style.getPropertyValue(ours).trim()])),
  };
}

/** Tells the chat how high the page would like to be, at most four times a second. */
export class Height {
  #wanted = MIN_HEIGHT; #timer = 0; #sent = "";
  #context; #extra;

  /** @param {() => any} context of the chat @param {() => number} extra pixels beside the canvas */
  constructor(context, extra) {
    this.#context = context;
    this.#extra = extra;
  }

  /** Begins with another document. */
  reset() {
    this.#wanted = MIN_HEIGHT;
    this.update();
  }

  /** @param {{ height: unknown, fills: unknown }} m untrusted; fills: the document is as high as its frame */
  measured({ height, fills }) {
    if (typeof height !== "number" || !Number.isFinite(height)) return;
    if (!fills) this.#wanted = height;
    else if (this.#wanted <= MIN_HEIGHT) this.#wanted = FILL_HEIGHT;
    this.update();
  }

  update() {
    const { containerDimensions: space, displayMode } = this.#context();
    if (typeof space?.height === "number" || displayMode === "fullscreen" || this.#timer) return;
    const most = typeof space?.maxHeight === "number" ? space.maxHeight : MAX_HEIGHT;
    const height = Math.min(Math.max(this.#wanted, MIN_HEIGHT) + this.#extra(), Math.max(most, 1));
    const size = { width: innerWidth, height };
    if (JSON.stringify(size) === this.#sent) return;
    this.#sent = JSON.stringify(size);
    notify("ui/notifications/size-changed", size);
    this.#timer = setTimeout(() => { this.#timer = 0; this.update(); }, SIZE_EVERY);
  }
}
