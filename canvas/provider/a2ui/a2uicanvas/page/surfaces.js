// @ts-check
// The surfaces of one agent's panel: the official renderer draws them, in the order in
// which they were created. Typing changes the renderer's local data model alone.
import { drawSurface, newProcessor } from "./renderer.js";
import { make } from "./ui.js";

/** @typedef {import("./renderer.js").Surface} Surface */
/** @typedef {import("./wire.js").Model} Model */
/** @typedef {{ el: HTMLElement, version: string, failed: boolean, reported: Set<string>, edits: Map<string, { before: string, value: any }> }} Shown */

const MAX_REPORTS = 8; // errors of one surface that are sent: a formula can fail at each key

export class Surfaces {
  #place; #report; #act;
  /** @type {import("./renderer.js").Processor} */ #processor;
  /** @type {Map<string, Shown>} by surface id */ #shown = new Map();
  #applying = false;

  /**
   * @param {HTMLElement} place
   * @param {(version: string, action: any) => void} act sends an action
   * @param {(version: string, error: any) => void} report sends an error
   */
  constructor(place, act, report) {
    this.#place = place;
    this.#act = act;
    this.#report = report;
    this.#processor = this.#start();
  }

  #start() {
    return newProcessor((action) => this.#act(this.#shown.get(action.surfaceId)?.version ?? "v0.9", action));
  }

  get size() {
    return this.#processor.model.surfacesMap.size;
  }

  /** The name of the agent, as the host puts it into each surface. */
  get owner() {
    for (const s of this.#processor.model.surfacesMap.values()) if (s.theme?.agentDisplayName) return s.theme.agentDisplayName;
    return "";
  }

  /** Draws the surfaces of a replay. What the person entered and the host does not have stays, where its place holds what it held before. @param {any[]} messages */
  replace(messages) {
    const before = this.#shown;
    this.#processor.model.dispose();
    this.#processor = this.#start();
    this.#shown = new Map();
    this.#place.replaceChildren();
    this.apply(messages);
    for (const [id, { edits }] of before) for (const [path, edit] of edits) this.#restore(id, path, edit);
  }

  /** @param {string} id @param {string} path @param {{ before: string, value: any }} edit */
  #restore(id, path, { before, value }) {
    const model = this.#processor.model.getSurface(id)?.dataModel;
    try {
      if (model && text(model.get(path)) === before) model.set(path, value);
    } catch {} // the place is no longer there
  }

  /** Applies messages that the host has accepted, each for itself. @param {any[]} messages */
  apply(messages) {
    for (const m of messages) {
      const id = (m.createSurface ?? m.updateComponents ?? m.updateDataModel ?? m.deleteSurface)?.surfaceId ?? "";
      const retyped = this.#retypes(id, m);
      this.#applying = true;
      try {
        this.#processor.processMessages([m]);
      } catch (err) {
        this.failed(id, err, m.version);
      } finally {
        this.#applying = false;
      }
      this.#follow(id, m, retyped);
    }
    for (const [id, shown] of this.#shown) this.#label(id, shown);
  }

  /** Whether a message gives a component another type which the renderer would not draw. @param {string} id @param {any} m */
  #retypes(id, m) {
    const types = new Map([...(this.#processor.model.getSurface(id)?.componentsModel.entries ?? [])].map(([name, c]) => [name, c.type]));
    return Boolean(m.updateComponents?.components?.some((/** @type {any} */ c) => types.has(c.id) && types.get(c.id) !== c.component));
  }

  /** Updates what the page keeps of a surface. @param {string} id @param {any} m @param {boolean} retyped */
  #follow(id, m, retyped) {
    const surface = this.#processor.model.getSurface(id);
    if (m.deleteSurface) {
      this.#shown.get(id)?.el.remove();
      this.#shown.delete(id);
    } else if (m.createSurface && surface) {
      this.#show(surface, m.version);
    } else if (surface && m.updateComponents) {
      const shown = this.#shown.get(id);
      if (shown?.failed || (shown && retyped)) this.#draw(surface, shown);
    } else if (m.updateDataModel) {
      this.#forgetEdits(id, m.updateDataModel.path ?? "/");
    }
  }

  /** @param {Surface} surface @param {string} version */
  #show(surface, version) {
    const el = make("section", { className: "surface", "aria-label": surface.id });
    const shown = { el, version, failed: false, reported: new Set(), edits: new Map() };
    this.#shown.set(surface.id, shown);
    this.#place.append(el);
    wrapRows(el);
    surface.onError.subscribe((error) => {
      if (Array.isArray(error.details)) return; // a value that is not there yet, such as an empty field's
      this.#tell(shown, surface.id, String(error.code), String(error.message));
    });
    const { dataModel } = surface, set = dataModel.set.bind(dataModel);
    dataModel.set = (path, value) => {
      if (!this.#applying && !shown.edits.has(path)) shown.edits.set(path, { before: text(dataModel.get(path)), value });
      const edit = shown.edits.get(path);
      if (!this.#applying && edit) edit.value = value;
      return set(path, value);
    };
    this.#draw(surface, shown);
  }

  /** @param {Surface} surface @param {Shown} shown */
  #draw(surface, shown) {
    shown.failed = false;
    shown.el.replaceChildren(drawSurface(surface));
  }

  /** Says to whom goes what is entered, above a surface that syncs or hides what is typed. @param {string} id @param {Shown} shown */
  #label(id, { el, failed }) {
    const surface = this.#processor.model.getSurface(id);
    el.querySelector(".goes")?.remove();
    if (!surface || failed || !(surface.sendDataModel || hides(surface))) return;
    el.prepend(make("p", { className: "goes" }, make("span", {}, "What you enter here goes to ", make("strong", {}, surface.theme?.agentDisplayName || "the agent"), ".")));
  }

  /** Removes edits that a message of the agent overwrites. @param {string} id @param {string} path */
  #forgetEdits(id, path) {
    const edits = this.#shown.get(id)?.edits;
    const at = path === "/" ? "" : path.replace(/\/$/, "");
    for (const edited of edits?.keys() ?? []) if (`${edited}/`.startsWith(`${at}/`) || `${at}/`.startsWith(`${edited}/`)) edits?.delete(edited);
  }

  /** Shows a box in place of a surface that the renderer failed on. @param {string} id @param {unknown} err @param {string} [version] */
  failed(id, err, version = "v0.9") {
    let shown = this.#shown.get(id);
    if (!shown) {
      shown = { el: make("section", { className: "surface", "aria-label": id }), version, failed: true, reported: new Set(), edits: new Map() };
      this.#shown.set(id, shown);
      this.#place.append(shown.el);
    }
    shown.failed = true;
    shown.el.replaceChildren(make("p", { className: "failed" }, `The part “${id}” could not be drawn. The agent has been notified.`));
    this.#tell(shown, id, "RENDERER_FAILED", err instanceof Error ? err.message : String(err));
  }

  /** Sends an error once. @param {Shown} shown @param {string} surfaceId @param {string} code @param {string} message */
  #tell(shown, surfaceId, code, message) {
    const key = `${code} ${message}`;
    if (shown.reported.has(key) || shown.reported.size >= MAX_REPORTS) return;
    shown.reported.add(key);
    this.#report(shown.version, { code: code === "VALIDATION_FAILED" ? "RENDERER_FAILED" : code, surfaceId, message: message.slice(0, 1000) });
  }

  /** The data models that every message has: those of surfaces that sync, and no others. @returns {Model[]} */
  models() {
    return [...this.#processor.model.surfacesMap.values()].filter((s) => s.sendDataModel)
      .map((s) => ({ surfaceId: s.id, version: this.#shown.get(s.id)?.version ?? "v0.9", model: s.dataModel.get("/") }));
  }

  /** The host has what was entered until now in the surfaces that sync. */
  sent() {
    for (const { surfaceId } of this.models()) this.#shown.get(surfaceId)?.edits.clear();
  }
}

/** Lets the rows of a surface wrap if it is wider than its place: the renderer's rows do not. @param {HTMLElement} section */
function wrapRows(section) {
  let width = 0, wraps = false;
  const measure = () => {
    if (section.clientWidth !== width) wraps = false; // measure again
    width = section.clientWidth;
    const host = section.querySelector("a2ui-surface");
    host?.toggleAttribute("data-wraps", wraps);
    wraps ||= section.scrollWidth > section.clientWidth + 1;
    host?.toggleAttribute("data-wraps", wraps);
    if (host) sizes.observe(host);
  };
  const sizes = new ResizeObserver(() => requestAnimationFrame(measure)); // not at once: it changes what is observed
  sizes.observe(section);
}

/** @param {any} value */
const text = (value) => JSON.stringify(value) ?? "";

/** @param {Surface} surface */
function hides(surface) {
  for (const [, c] of surface.componentsModel.entries) if (c.type === "TextField" && c.properties.variant === "obscured") return true;
  return false;
}
