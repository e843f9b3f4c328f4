// @ts-check
// Small things that every part of the page needs. Text becomes text nodes: data
// never becomes markup.

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const el = document.getElementById(id);
  if (!el) throw new Error(`no element #${id}`);
  return el;
}

/**
 * Makes an element.
 * @param {string} tag @param {Record<string, any>} [props] properties, or attributes where the name has a dash or is "role"
 * @param {...(Node | string)} children @returns {any}
 */
export function make(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.includes("-") || name === "role") el.setAttribute(name, value);
    else /** @type {any} */ (el)[name] = value;
  }
  el.append(...children);
  return el;
}

/** A button that is a sign to the eye and words to everybody else. @param {string} sign @param {string} label @param {(e: Event) => void} onclick */
export const icon = (sign, label, onclick) => make("button", { type: "button", className: "plain icon", title: label, "aria-label": label, onclick }, sign);

/** Says something to a screen reader. @param {string} text */
export function announce(text) {
  const live = byId("live");
  live.textContent = "";
  setTimeout(() => { live.textContent = text; }, 50); // the same words again are said again
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let hiding;

/** Shows a word for a while, with a way back where there is one. @param {string} text @param {() => void} [undo] */
export function toast(text, undo) {
  const box = byId("toast"), button = byId("undo");
  byId("toast-text").textContent = text;
  button.hidden = !undo;
  button.onclick = () => { box.hidden = true; undo?.(); };
  box.hidden = false;
  announce(undo ? `${text} Undo is the next button.` : text);
  clearTimeout(hiding);
  hiding = setTimeout(() => { box.hidden = true; }, undo ? 10_000 : 5_000);
}

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
