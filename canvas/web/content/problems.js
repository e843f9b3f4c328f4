// @ts-check
// Collects what goes wrong in a canvas's document, from its first script on: the host puts
// this in front of shim.js and singleshim.js. canvas.js reads the list, for a renderer
// that asks for it (doc.go, "Problems").
"use strict";
{
  const MAX = 50; // problems that are kept; a later one is counted only
  const MAX_TEXT = 500; // characters of a text

  /** @typedef {{ kind: "error" | "console" | "blocked" | "read", text: string, file?: string, line?: number, column?: number, time: string, count: number }} Problem */

  /** @type {Problem[]} */
  let list = [];
  let dropped = 0;
  /** @type {Set<string>} Addresses elsewhere that were blocked */
  const blocked = new Set();

  /** @param {Problem["kind"]} kind @param {unknown} text @param {{ file?: string, line?: number, column?: number }} [place] */
  function add(kind, text, place) {
    const problem = { kind, text: asText(text).slice(0, MAX_TEXT), ...place, time: new Date().toISOString(), count: 1 };
    const same = list.find((p) => p.kind === kind && p.text === problem.text && p.file === problem.file && p.line === problem.line);
    if (same) same.count++;
    else if (list.length < MAX) list.push(problem);
    else dropped++;
  }

  /** A value's text; converting it can run code of the page, which can throw. @param {unknown} value */
  function asText(value) {
    try {
      if (value instanceof Error) return String(value.stack || value);
      return typeof value === "object" && value !== null ? JSON.stringify(value) ?? "" : String(value);
    } catch {
      return "(no text)";
    }
  }

  /** The path of a file of the canvas, or an address elsewhere. @param {string} address */
  const asPath = (address) => (address.startsWith(`${location.origin}/`) ? address.slice(location.origin.length) : address).slice(0, MAX_TEXT);

  addEventListener("error", (/** @type {Event} */ event) => {
    if (event instanceof ErrorEvent) return add("error", event.message, { file: asPath(event.filename), line: event.lineno, column: event.colno });
    const el = /** @type {any} */ (event.target);
    const address = el?.currentSrc || el?.src || el?.href;
    if (typeof address === "string" && address) add("read", `${asPath(address)} could not be read`);
  }, true);
  addEventListener("unhandledrejection", ({ reason }) => add("error", reason));
  addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective, sourceFile, lineNumber }) => {
    if (blocked.size < MAX) blocked.add(blockedURI);
    add("blocked", `${asPath(blockedURI)} (${effectiveDirective})`, { file: asPath(sourceFile ?? ""), line: lineNumber });
  });
  const native = console.error;
  console.error = (...values) => {
    add("console", values.map(asText).join(" "));
    native.apply(console, values);
  };

  let used = performance.now();
  for (const type of ["pointerdown", "keydown", "wheel"]) addEventListener(type, (event) => { if (event.isTrusted) used = performance.now(); }, { capture: true, passive: true });
  /** Returns how many ms ago a person used the document. */
  const idle = () => performance.now() - used;

  /** Returns the problems since the last call. */
  const take = () => {
    const taken = { problems: list, dropped };
    list = [];
    dropped = 0;
    return taken;
  };
  Object.defineProperty(globalThis, "ahpProblems", { value: { take, blocked, idle }, configurable: true });
}
