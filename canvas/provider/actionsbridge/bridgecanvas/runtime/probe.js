// @ts-check
// What the targets of an actions.json find in this document. Only plain selectors, texts
// and addresses are evaluated; a target that needs more is unknown, which is neither true
// nor false.

/** @typedef {{ selector?: string, selectors?: string[], fallback_selectors?: string[], text_equals?: string, text_contains?: string, url_contains?: string, state?: string }} Target */

/** @param {any} v @returns {string[]} */
const strings = (v) => (typeof v === "string" ? [v] : Array.isArray(v) ? v.filter((s) => typeof s === "string") : []);

/** @param {Target | undefined} target */
const preferred = (target) => [...strings(target?.selector), ...strings(target?.selectors)];

/** @param {Element} el */
const isVisible = (el) => (el.checkVisibility ? el.checkVisibility({ visibilityProperty: true }) : el.getClientRects().length > 0);

/** @param {Element} el @param {Target} target */
function hasText(el, target) {
  const text = (/** @type {any} */ (el).value ?? el.textContent ?? "").trim();
  if (typeof target.text_equals === "string" && text !== target.text_equals) return false;
  return typeof target.text_contains !== "string" || text.includes(target.text_contains);
}

/**
 * Returns the first element that a target names, undefined if there is none, and null if
 * the target is not plain: it has no selector, or one that this browser cannot read.
 * @param {Target | undefined} target @param {boolean} [fallback] with the fallback selectors
 * @returns {Element | undefined | null}
 */
export function find(target, fallback = true) {
  const selectors = preferred(target);
  if (fallback) selectors.push(...strings(target?.fallback_selectors));
  if (!target || selectors.length === 0) return null;
  const anyText = typeof target.text_equals !== "string" && typeof target.text_contains !== "string";
  let read = false;
  for (const selector of selectors) {
    try {
      const found = anyText ? document.querySelector(selector) : [...document.querySelectorAll(selector)].find((el) => hasText(el, target));
      if (found) return found;
      read = true;
    } catch {} // such as :has-text() of another tool
  }
  return read ? undefined : null;
}

/** Whether this document is the one that a target's address names. @param {any} target @param {string} path */
const here = (target, path) => typeof target?.url_contains !== "string" || path.includes(target.url_contains);

/**
 * Returns whether a state holds, and the diagnostics that do not. A state without a plain
 * diagnostic is unknown.
 * @param {any} state @param {string} path @returns {{ holds: boolean | undefined, missing: string[] }}
 */
export function stateOf(state, path) {
  let known = false;
  /** @type {string[]} */
  const missing = [];
  for (const d of Array.isArray(state?.diagnostics) ? state.diagnostics : []) {
    const found = find(d?.target);
    if (found === null) continue;
    known = true;
    if (!found || !isVisible(found) || !here(d.target, path)) missing.push(String(d.name ?? ""));
  }
  return { holds: known ? missing.length === 0 : undefined, missing };
}

/** Whether a check is for this document: its setup navigates nowhere, or to here. @param {any} check @param {string} path */
function isForHere(check, path) {
  for (const step of Array.isArray(check.setup) ? check.setup : []) {
    if (step?.type !== "navigate" || typeof step.url !== "string") return false; // it needs more than looking
    const to = `/${step.url}`.replace(/[?#].*/s, "");
    if (!to.endsWith(path) && !(path.endsWith("/index.html") && to.endsWith(path.slice(0, -"index.html".length)))) return false;
  }
  return true;
}

/** What an assertion expects that is not so; "" if all is so, null if it is not plain. @param {any} a */
function violation(a) {
  const found = find(a?.target ?? a);
  if (found === null) return null;
  if (a.visible === false) return found && isVisible(found) ? "is visible" : "";
  if (!found) return "is missing";
  if (a.visible === true && !isVisible(found)) return "is not visible";
  if (typeof a.enabled === "boolean" && found.matches(":disabled") === a.enabled) return a.enabled ? "is disabled" : "is enabled";
  if (typeof a.expected_text === "string" && !(found.textContent ?? "").includes(a.expected_text)) return "has another text";
  return "";
}

/** @typedef {{ check: string, severity: string, selector: string, found: string, tool?: string }} Drift */

/**
 * Returns the first assertion of each check that does not hold in this document. Checks
 * with steps are not run.
 * @param {any[]} checks @param {(name: string) => boolean} holds whether a state holds
 * @param {string} path @returns {Drift[]}
 */
export function driftOf(checks, holds, path) {
  /** @type {Drift[]} */
  const all = [];
  for (const check of checks) {
    if (check.steps || !isForHere(check, path) || (typeof check.state === "string" && !holds(check.state))) continue;
    const negative = (Array.isArray(check.negative_assertions) ? check.negative_assertions : []).filter((/** @type {any} */ a) => here(a, path));
    for (const a of [...(Array.isArray(check.assertions) ? check.assertions : []), ...negative]) {
      const found = violation(a);
      if (!found) continue;
      all.push({ check: String(check.id), severity: String(check.severity ?? ""), selector: preferred(a.target ?? a)[0] ?? "", found, tool: check.tool });
      break;
    }
  }
  return all;
}

/**
 * Returns the state of an attachment's place: "attached" if its target is in this
 * document, "wrong_context" if the page or its state is another one, and otherwise
 * "drifted". An attachment that is not plain has none.
 * @param {any} attachment @param {(name: string) => boolean} holds @param {string} path
 */
export function attachmentOf({ target }, holds, path) {
  const found = find(target);
  if (found === null) return undefined;
  if (!here(target, path) || (typeof target.state === "string" && !holds(target.state))) return "wrong_context";
  return found ? "attached" : "drifted";
}
