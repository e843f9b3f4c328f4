// @ts-check
// What the host shows on a page: a button with the revisions, and a bar for a change that
// waits or a download. All of it is in a shadow tree, apart from the page's own styles.

/** @typedef {{ revision: number, time: string, by: string, what: string }} Revision */
/** @typedef {{ history: () => Promise<{ revision: number, revisions: Revision[] }>, revert: (revision: number) => Promise<void>, load: () => void, taken: () => void }} Actions */

const STYLE = `
:host { all: initial; position: fixed; inset: 0; z-index: 2147483647; pointer-events: none; color-scheme: light dark;
  --ground: var(--background-color-default, light-dark(#ffffff, #15181d)); --ink: var(--text-color-default, light-dark(#1b1f24, #e7eaee));
  --soft: var(--text-color-muted, light-dark(#5a636e, #9aa4b1)); --line: var(--border-color-default, light-dark(#d9dde3, #2e343d));
  --focus: var(--color-focus-outline, light-dark(#3557d6, #8ea6ff)); --raised: color-mix(in oklab, var(--ground) 96%, var(--ink));
  font: 400 .875rem/1.4 var(--font-sans, ui-sans-serif, system-ui, "Segoe UI", "Noto Sans", sans-serif); color: var(--ink) }
:host([data-mode="light"]) { color-scheme: light }
:host([data-mode="dark"]) { color-scheme: dark }
@media print { :host { display: none } }
* { box-sizing: border-box; margin: 0; padding: 0 }
[hidden] { display: none !important }
button { font: inherit; color: inherit; cursor: pointer; border: 1px solid var(--line); border-radius: .5rem; background: var(--ground); padding: .1875rem .625rem; min-height: 1.75rem; white-space: nowrap }
button:hover { border-color: var(--soft) }
button.main { background: var(--ink); border-color: var(--ink); color: var(--ground) }
button.plain { border-color: transparent; background: none; color: var(--soft) }
button.plain:hover { color: var(--ink) }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
.open { pointer-events: auto; position: absolute; inset: auto 1rem 1rem auto; width: 2rem; height: 2rem; min-height: 0; padding: 0; border-radius: 50%; display: grid; place-items: center;
  color: var(--soft); box-shadow: 0 1px 4px light-dark(rgb(20 30 50 / .14), rgb(0 0 0 / .5)); opacity: .72 }
.open:hover, .open:focus-visible, .open[aria-expanded="true"] { opacity: 1; color: var(--ink) }
svg { width: 1.125rem; height: 1.125rem; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round }
.panel { pointer-events: auto; position: absolute; inset: auto 1rem 3.5rem auto; width: min(23rem, calc(100vw - 2rem)); max-height: min(26rem, calc(100vh - 4.5rem)); display: grid; grid-template-rows: auto minmax(0, 1fr);
  background: var(--ground); border: 1px solid var(--line); border-radius: .75rem; box-shadow: 0 12px 32px light-dark(rgb(20 30 50 / .2), rgb(0 0 0 / .6)); overflow: hidden }
.panel header { display: flex; align-items: center; justify-content: space-between; padding: .625rem .625rem .5rem 1rem; border-block-end: 1px solid var(--line) }
h2 { font-size: .9375rem; font-weight: 650; letter-spacing: -.01em }
ol { list-style: none; overflow-y: auto; padding: .375rem }
li { display: grid; grid-template-columns: 2rem minmax(0, 1fr) auto; align-items: center; gap: .125rem .5rem; padding: .4375rem .375rem .4375rem .25rem; border-radius: .5rem }
li:hover { background: var(--raised) }
.n { grid-row: span 2; justify-self: center; color: var(--soft); font-variant-numeric: tabular-nums; font-weight: 600 }
li[aria-current] .n { color: var(--ink) }
.what { overflow-wrap: anywhere }
.meta { grid-column: 2; color: var(--soft); font-size: .8125rem }
li > button, .now { grid-area: 1 / 3 / span 2 }
.now { color: var(--soft); font-size: .8125rem; padding-inline-end: .375rem }
.message { padding: 1rem; color: var(--soft) }
.bar { pointer-events: auto; position: absolute; inset: auto auto .75rem 50%; translate: -50% 0; display: flex; align-items: center; flex-wrap: wrap; gap: .375rem .75rem; width: max-content; max-width: calc(100vw - 1.25rem);
  background: var(--ground); border: 1px solid var(--line); border-radius: .75rem; padding: .5rem .5rem .5rem .875rem; box-shadow: 0 8px 28px light-dark(rgb(20 30 50 / .22), rgb(0 0 0 / .6)) }
.bar p { flex: 1; min-width: min(14rem, 100%); overflow-wrap: anywhere }
.bar small { display: block; font-size: .8125rem; color: var(--soft) }
.bar div { display: flex; gap: .25rem; margin-inline-start: auto }
@media (prefers-reduced-motion: no-preference) { .panel, .bar { animation: rise .16s ease-out } }
@keyframes rise { from { opacity: 0; transform: translateY(.375rem) } }`;

const MARKUP = `<style>${STYLE}</style>
<button class="open" type="button" aria-haspopup="dialog" aria-expanded="false" aria-label="Revisions of this page" title="Revisions of this page" hidden>
<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3.2 8.2A7 7 0 1 1 3 11M3 4v4.2h4.2M10 6.4V10l2.6 1.6"/></svg></button>
<section class="panel" role="dialog" aria-labelledby="h" hidden><header><h2 id="h">Revisions</h2><button class="plain close" type="button">Close</button></header>
<p class="message" role="status"></p><ol></ol></section>
<div class="bar" role="status" hidden><p></p><div></div></div>`;

export class Tools {
  #actions; #host; #root;

  /** @param {Actions} actions */
  constructor(actions) {
    this.#actions = actions;
    this.#host = document.createElement("ahp-page-tools");
    this.#root = this.#host.attachShadow({ mode: "open" });
    this.#root.innerHTML = MARKUP;
    this.#find(".open").onclick = () => (this.#find(".panel").hidden ? this.#open() : this.#close());
    this.#find(".close").onclick = () => this.#close();
    this.#root.addEventListener("keydown", (event) => this.#key(/** @type {KeyboardEvent} */ (event)));
    addEventListener("pointerdown", (event) => { if (!event.composedPath().includes(this.#host)) this.#close(false); });
  }

  /** @param {string} selector @returns {any} */
  #find(selector) {
    return this.#root.querySelector(selector);
  }

  /** Shows the button, or not. @param {boolean} on */
  show(on) {
    if (on) this.#attach();
    this.#find(".open").hidden = !on;
  }

  /** Attaches the tools below the root element, where a page that replaces its body leaves them. */
  #attach() {
    this.#host.dataset.mode = document.documentElement.dataset.colorMode ?? "";
    if (!this.#host.isConnected) document.documentElement.append(this.#host);
  }

  /** Asks whether to load a changed page. @param {string} text */
  ask(text) {
    this.#bar(text, "Loading it discards what you typed.", [
      ["Load it", "main", () => this.#actions.load()],
      ["Not now", "plain", () => {}],
    ]);
  }

  /** Offers a download. @param {{ name: string, files: number, bytes: number, revision: number }} file */
  offer({ name, files, bytes, revision }) {
    const size = bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toLocaleString(undefined, { maximumFractionDigits: bytes < 10240 ? 1 : 0 })} KB`;
    this.#bar(`The agent offers a download: ${name}`, `${files === 1 ? "1 file" : `${files} files`}, ${size}, revision ${revision}`, [
      ["Download", "main", () => {
        this.#actions.taken();
        download(`/.page/export.zip?revision=${revision}`, name).catch(() => this.#bar("The download failed.", "This renderer may not allow downloads.", [["Dismiss", "plain", () => {}]]));
      }],
      ["Dismiss", "plain", () => this.#actions.taken()],
    ]);
  }

  /**
   * Shows a question. A question that is shown already keeps its buttons: the person may be
   * pressing one.
   * @param {string} text @param {string} more @param {[string, string, () => void][]} choices text, class and effect of each button
   */
  #bar(text, more, choices) {
    this.#attach();
    const bar = this.#find(".bar"), small = document.createElement("small"), p = bar.querySelector("p");
    if (!bar.hidden && p.textContent === text + more) return;
    small.textContent = more;
    p.replaceChildren(text, small);
    bar.querySelector("div").replaceChildren(...choices.map(([label, className, fn]) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className, textContent: label, onclick: () => { bar.hidden = true; fn(); } });
      return button;
    }));
    bar.hidden = false;
  }

  async #open() {
    const panel = this.#find(".panel"), message = this.#find(".message");
    panel.hidden = false;
    this.#find(".open").setAttribute("aria-expanded", "true");
    this.#find("ol").replaceChildren();
    message.textContent = "Loading…";
    message.hidden = false;
    this.#find(".close").focus();
    try {
      const { revision, revisions } = await this.#actions.history();
      message.hidden = true;
      this.#find("ol").replaceChildren(...revisions.map((r) => this.#row(r, r.revision === revision)));
      (this.#find("ol button") ?? this.#find(".close")).focus();
    } catch (err) {
      message.textContent = `The revisions cannot be shown: ${/** @type {Error} */ (err).message}`;
    }
  }

  /** @param {Revision} r @param {boolean} current */
  #row(r, current) {
    const li = document.createElement("li");
    /** @param {string} tag @param {string} className @param {string} text */
    const part = (tag, className, text) => {
      const el = document.createElement(tag);
      Object.assign(el, { className, textContent: text });
      li.append(el);
      return el;
    };
    part("span", "n", String(r.revision));
    part("span", "what", r.what);
    part("span", "meta", `${r.by === "person" ? "A person" : "The agent"}, ${ago(r.time)}`).title = new Date(r.time).toLocaleString();
    if (current) {
      li.setAttribute("aria-current", "true");
      part("span", "now", "Shown now");
      return li;
    }
    const button = part("button", "", "Go back");
    button.setAttribute("aria-label", `Go back to revision ${r.revision}`);
    button.onclick = async () => {
      try {
        await this.#actions.revert(r.revision);
        this.#close();
      } catch (err) {
        this.#find(".message").hidden = false;
        this.#find(".message").textContent = /** @type {Error} */ (err).message;
      }
    };
    return li;
  }

  /** @param {boolean} [focus] */
  #close(focus = true) {
    if (this.#find(".panel").hidden) return;
    this.#find(".panel").hidden = true;
    this.#find(".open").setAttribute("aria-expanded", "false");
    if (focus) this.#find(".open").focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Escape") this.#close();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || this.#find(".panel").hidden) return;
    const buttons = [...this.#root.querySelectorAll("ol button")];
    const at = buttons.indexOf(/** @type {any} */ (this.#root.activeElement));
    /** @type {any} */ (buttons[Math.min(Math.max(at + step, 0), buttons.length - 1)])?.focus();
    event.preventDefault();
  }
}

/** Downloads a file of the canvas: by script, because a browser downloads a link without the service worker. @param {string} path @param {string} name */
async function download(path, name) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(String(response.status));
  const url = URL.createObjectURL(await response.blob());
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A time as in "2 minutes ago". @param {string} time */
function ago(time) {
  const seconds = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
  if (seconds < 5) return "just now";
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" });
  for (const [unit, size] of /** @type {const} */ ([["day", 86400], ["hour", 3600], ["minute", 60]])) {
    if (seconds >= size) return format.format(-Math.round(seconds / size), unit);
  }
  return format.format(-Math.round(seconds), "second");
}
