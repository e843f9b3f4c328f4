// @ts-check
// What this page answers an agent that looks at a canvas (canvas/PROTOCOL.md section 7.2).

import { applyTheme } from "./theme.js";
import { warmUp } from "./warm.js";

const MAX_PROBLEMS = 50;
const MAX_OUTLINE = 8 * 1024; // characters
const KINDS = ["error", "console", "blocked", "read"];

let used = performance.now();
for (const type of ["pointerdown", "keydown", "wheel"]) addEventListener(type, () => { used = performance.now(); }, { capture: true, passive: true });

/** @param {unknown} value untrusted @param {number} most */
const text = (value, most) => (typeof value === "string" ? value.slice(0, most) : "");
/** @param {unknown} value untrusted */
const count = (value) => (typeof value === "number" && value >= 0 && value < 2 ** 31 ? Math.round(value) : 0);

/** Takes from a frame's answer what an agent may get. @param {any} seen untrusted */
export function cleaned(seen) {
  const problems = Array.isArray(seen.problems) ? seen.problems.slice(0, MAX_PROBLEMS) : [];
  const idle = Math.min(performance.now() - used, typeof seen.idle === "number" ? seen.idle : Infinity);
  return {
    outline: text(seen.outline, MAX_OUTLINE), full: count(seen.full), revision: count(seen.revision), dropped: count(seen.dropped),
    idle: count(idle / 1000),
    problems: problems.filter((/** @type {any} */ p) => KINDS.includes(p?.kind)).map((/** @type {any} */ p) => ({
      kind: p.kind, text: text(p.text, 1000), file: text(p.file, 500), line: count(p.line), column: count(p.column), time: text(p.time, 32), count: count(p.count),
    })),
  };
}

/**
 * Lets the browser that makes pictures show one canvas, which it names once: it keeps such a
 * page, connected and with a frame, for its next look.
 * @param {string} pattern of content origins @param {(instanceId: string) => void} show
 * @param {() => import("./card.js").Card | undefined} find @param {() => string} problem what the page shows in its place
 */
export function startLook(pattern, show, find, problem) {
  const READY = 6_000; // ms for the canvas to load; a canvas that takes longer is not waited for
  document.body.dataset.look = "true";
  /** @param {number} ms */
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  warmUp(pattern);
  /** @type {any} */ (globalThis).ahpLook = async (/** @type {string} */ instanceId, /** @type {number} */ wait) => {
    const began = performance.now();
    applyTheme(); // it can be another than that with which the page was loaded
    show(instanceId);
    let card = find();
    while ((!card || card.phase === "starting") && performance.now() - began < READY) {
      await sleep(10);
      card = find();
    }
    await sleep(wait);
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const seen = card ? await card.look() : { phase: "failed", message: problem() };
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))); // what was hidden is not painted any more
    return seen;
  };
}

/** What people see of a canvas; one that is not mounted is mounted first. @param {import("./card.js").Card} card @param {() => void} wake mounts it */
export async function lookAt(card, wake) {
  wake();
  for (let i = 0; card.phase === "starting" && i < 7; i++) await new Promise((resolve) => setTimeout(resolve, 100)); // the host waits for two seconds
  return card.look();
}
