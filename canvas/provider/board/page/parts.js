// @ts-check
// Icon buttons, and forms in the place of other elements.
import { glyph } from "./icons.js";
import { make } from "./ui.js";

/** Creates a button with an icon, and a label for screen readers. @param {Parameters<typeof glyph>[0]} sign @param {string} label @param {(e: Event) => void} onclick */
export const icon = (sign, label, onclick) => make("button", { type: "button", className: "plain icon", title: label, "aria-label": label, onclick }, glyph(sign));

/**
 * Creates a form. Enter saves (Ctrl+Enter in a text of several lines), Escape cancels.
 * @param {{ fields: HTMLElement[], save: string, onSave: () => void, onCancel: () => void }} f @returns {HTMLFormElement}
 */
export function form({ fields, save, onSave, onCancel }) {
  const el = make("form", { className: "form" }, ...fields, make("div", { className: "row" },
    make("button", { type: "button", className: "plain", onclick: onCancel }, "Cancel"),
    make("button", { type: "submit", className: "main" }, save)));
  el.addEventListener("submit", (/** @type {Event} */ e) => { e.preventDefault(); onSave(); });
  el.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    e.stopPropagation(); // the board's keys do not apply here
    if (e.key === "Escape") onCancel();
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) onSave();
  });
  return el;
}
