// @ts-check
// Parts that only a board has: buttons that are signs, and forms in place.
import { make } from "./ui.js";

/** A button that is a sign to the eye and words to everybody else. @param {string} sign @param {string} label @param {(e: Event) => void} onclick */
export const icon = (sign, label, onclick) => make("button", { type: "button", className: "plain icon", title: label, "aria-label": label, onclick }, sign);

/**
 * A form in place of something. Enter saves, Escape leaves.
 * @param {{ fields: HTMLElement[], save: string, onSave: () => void, onLeave: () => void }} f @returns {HTMLFormElement}
 */
export function form({ fields, save, onSave, onLeave }) {
  const el = make("form", { className: "form" }, ...fields, make("div", { className: "row" },
    make("button", { type: "button", className: "plain", onclick: onLeave }, "Cancel"),
    make("button", { type: "submit", className: "main" }, save)));
  el.addEventListener("submit", (/** @type {Event} */ e) => { e.preventDefault(); onSave(); });
  el.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    e.stopPropagation(); // letters are letters here
    if (e.key === "Escape") onLeave();
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) onSave();
  });
  return el;
}
