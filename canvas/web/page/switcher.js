// @ts-check
// How a person goes from canvas to canvas: tabs while some are not visible, and a list with
// a search field, which is all that narrow windows have.
import { drag } from "./drag.js";
import { drawIcons, icon, kindIcon } from "./icons.js";
import { addLayer } from "./layers.js";
import { byId, setText } from "./ui.js";

/**
 * A canvas as the switcher shows it. badge: that it waits for the person, or how far its work
 * is; why: for what it waits, or ""; fresh: it was opened and not seen yet.
 * @typedef {{ id: string, title: string, status: string, kind: string, current: boolean, visible: boolean, pinned: boolean, stale: boolean, fresh: boolean, badge: string, why: string }} Entry
 */

/**
 * @typedef {{
 *   entries: () => Entry[],
 *   show: (id: string) => void,
 *   beside: (id: string) => void,
 *   menu: (id: string, button: HTMLElement) => void,
 *   split: (id: string, e: PointerEvent, dropped: boolean) => void,
 *   picture: (id: string) => Element | undefined,
 *   refresh: () => Promise<void>,
 * }} Around beside: shows a canvas beside the others; split: the same, where its tab is dragged to; picture: what the canvas looked like; refresh: updates the pictures
 */

export class Switcher {
  #around;
  #tabs = byId("tabs");
  #button = byId("switch");
  #dialog = /** @type {HTMLDialogElement} */ (byId("switcher"));
  #search = /** @type {HTMLInputElement} */ (byId("find"));
  #list = byId("found");
  #drawn = "";
  /** @type {WeakMap<Element, string>} What each tab shows */ #filled = new WeakMap();

  /** @param {Around} around */
  constructor(around) {
    this.#around = around;
    this.#button.addEventListener("click", () => this.open());
    this.#tabs.addEventListener("keydown", (e) => this.#onTabKey(e));
    for (const type of ["pointerenter", "focusin"]) this.#tabs.addEventListener(type, () => around.refresh()); // another canvas is about to be shown
    this.#search.addEventListener("input", () => this.#find());
    this.#dialog.addEventListener("keydown", (e) => this.#onListKey(e));
    this.#dialog.addEventListener("click", (e) => { if (e.target === this.#dialog) this.#dialog.close(); });
    addEventListener("keydown", (e) => {
      if (e.key.toLowerCase() !== "k" || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey || this.#button.hidden) return;
      e.preventDefault();
      this.open();
    });
  }

  /** Shows the current canvases. */
  render() {
    const entries = this.#around.entries();
    this.#button.hidden = entries.length < 2;
    const waiting = entries.filter((e) => e.badge || e.fresh).length;
    setText(byId("switch-count"), String(entries.length));
    this.#button.title = `All canvases (Ctrl+K)${waiting ? `, ${waiting} with news` : ""}`;
    this.#button.dataset.news = String(waiting > 0);
    byId("tabbar").hidden = entries.every((e) => e.visible);
    const drawn = JSON.stringify(entries);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#drawTabs(entries);
    if (this.#dialog.open) this.#find();
  }

  /** Updates the existing tabs: replacing them would take the focus. @param {Entry[]} entries */
  #drawTabs(entries) {
    const old = new Map([...this.#tabs.children].map((li) => [/** @type {HTMLElement} */ (li).dataset.id, li]));
    const focus = document.activeElement;
    entries.forEach((entry, i) => {
      const li = /** @type {HTMLElement} */ (old.get(entry.id) ?? this.#newTab(entry.id));
      old.delete(entry.id);
      if (this.#tabs.children[i] !== li) this.#tabs.insertBefore(li, this.#tabs.children[i] ?? null);
      const text = JSON.stringify(entry);
      if (this.#filled.get(li) !== text) fill(/** @type {HTMLElement} */ (li.firstElementChild), entry);
      this.#filled.set(li, text);
    });
    for (const li of old.values()) li.remove();
    if (focus instanceof HTMLElement && focus.isConnected && document.activeElement !== focus) focus.focus();
    const current = entries.find((e) => e.current);
    for (const tab of this.#all()) tab.tabIndex = (tab.parentElement?.dataset.id === (current ?? entries[0])?.id) ? 0 : -1;
    this.#all().find((tab) => tab.getAttribute("aria-current") === "true")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** @returns {HTMLElement[]} */
  #all() {
    return [...this.#tabs.querySelectorAll(".tab")].map((tab) => /** @type {HTMLElement} */ (tab));
  }

  /** @param {string} id */
  #newTab(id) {
    const li = document.createElement("li"), tab = document.createElement("button");
    li.dataset.id = id;
    tab.type = "button";
    tab.className = "tab";
    tab.addEventListener("click", () => this.#around.show(id));
    tab.addEventListener("contextmenu", (e) => { e.preventDefault(); this.#around.menu(id, tab); });
    drag(tab, (e) => this.#around.split(id, e, false), (e) => this.#around.split(id, e, true), "");
    li.append(tab);
    return li;
  }

  /** @param {KeyboardEvent} e */
  #onTabKey(e) {
    const all = this.#all(), at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const id = all[at]?.parentElement?.dataset.id;
    if (id === undefined) return;
    const back = getComputedStyle(this.#tabs).direction === "rtl";
    /** @type {Record<string, number>} */
    const next = { ArrowRight: at + (back ? -1 : 1), ArrowLeft: at + (back ? 1 : -1), Home: 0, End: all.length - 1 };
    if (e.key in next) all[(next[e.key] + all.length) % all.length].focus();
    else if (e.key === "Enter" && e.shiftKey) this.#around.beside(id);
    else return;
    e.preventDefault();
  }

  /** Opens the list. */
  open() {
    if (this.#dialog.open) return;
    this.#search.value = "";
    this.#dialog.showModal();
    const remove = addLayer(() => this.#dialog.close());
    this.#dialog.addEventListener("close", remove, { once: true });
    this.#find();
    this.#search.focus();
    this.#around.refresh().then(() => this.drawPictures());
  }

  /** Puts the pictures into the list. */
  drawPictures() {
    for (const li of /** @type {Iterable<HTMLElement>} */ (this.#list.children)) {
      const box = /** @type {HTMLElement} */ (li.querySelector(".picture")), picture = this.#around.picture(li.dataset.id ?? "");
      if (picture) box.querySelector(".sketch")?.remove();
      if (picture) box.append(picture);
    }
  }

  /** Lists the canvases whose title or status has every word of the search. */
  #find() {
    const words = this.#search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const found = this.#around.entries().filter((e) => words.every((w) => `${e.title} ${e.status} ${e.kind}`.toLocaleLowerCase().includes(w)));
    const focused = /** @type {HTMLElement | null} */ (document.activeElement?.closest("#found li"))?.dataset.id;
    this.#list.replaceChildren(...found.map((e) => this.#line(e)));
    this.drawPictures();
    if (focused) /** @type {HTMLElement | null} */ (this.#list.querySelector(`li[data-id="${CSS.escape(focused)}"] button`))?.focus();
    byId("found-none").hidden = found.length > 0;
  }

  /** @param {Entry} entry */
  #line(entry) {
    const li = document.createElement("li"), go = document.createElement("button"), beside = document.createElement("button");
    li.dataset.id = entry.id;
    go.type = beside.type = "button";
    go.className = "go";
    fill(go, entry);
    go.addEventListener("click", (e) => this.#choose(entry.id, e.shiftKey));
    beside.className = "tool";
    beside.title = "Show beside the others (Shift+Enter)";
    beside.ariaLabel = `Show “${entry.title}” beside the others`;
    beside.dataset.icon = "beside";
    beside.addEventListener("click", () => this.#choose(entry.id, true));
    li.append(go, beside);
    drawIcons(li);
    return li;
  }

  /** @param {string} id @param {boolean} beside */
  #choose(id, beside) {
    this.#dialog.close();
    if (beside) this.#around.beside(id);
    else this.#around.show(id);
  }

  /** @param {KeyboardEvent} e */
  #onListKey(e) {
    const all = /** @type {HTMLElement[]} */ ([...this.#list.querySelectorAll(".go")]);
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (e.key === "ArrowDown") (all[at + 1] ?? all[0])?.focus();
    else if (e.key === "ArrowUp") (all[at - 1] ?? this.#search).focus();
    else if (e.key === "Enter" && document.activeElement === this.#search) {
      const id = all[0]?.parentElement?.dataset.id;
      if (id !== undefined) this.#choose(id, e.shiftKey);
    } else return;
    e.preventDefault();
  }
}

/** Writes an entry into its button: picture, title, status, and what waits there. @param {HTMLElement} button @param {Entry} entry */
function fill(button, entry) {
  const { title, status, badge, fresh, stale, pinned, why } = entry;
  const text = (/** @type {string} */ name, /** @type {string} */ value) => Object.assign(document.createElement("span"), { className: name, textContent: value, dir: "auto" });
  const mark = badge || (fresh ? "New" : stale ? "Stale" : "");
  const picture = document.createElement("span");
  picture.className = "picture";
  picture.append(icon(kindIcon(entry.kind)));
  button.replaceChildren(picture, text("name", title), text("about", why || status));
  if (pinned) button.append(icon("pin"));
  if (mark) button.append(text("mark", mark));
  button.setAttribute("aria-current", String(entry.current));
  button.dataset.visible = String(entry.visible);
  button.title = [title, status, why || mark].filter(Boolean).join(" · ");
}
