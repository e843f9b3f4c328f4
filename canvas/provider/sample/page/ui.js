// @ts-check
// Elements, announcements and toasts for every page. Text always becomes text nodes,
// so data cannot become markup.

/** @param {string} id @returns {any} */
export function byId(id) {
  const el = document.getElementById(id);
  if (!el) throw new Error(`no element #${id}`);
  return el;
}

/**
 * Sets properties of an element, or attributes if the name has a dash or is "role".
 * @param {any} el @param {Record<string, any>} props @param {(Node | string)[]} children
 */
function fill(el, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (name.includes("-") || name === "role") el.setAttribute(name, value);
    else el[name] = value;
  }
  el.append(...children);
  return el;
}

/** Creates an HTML element. @param {string} tag @param {Record<string, any>} [props] @param {...(Node | string)} children @returns {any} */
export const make = (tag, props = {}, ...children) => fill(document.createElement(tag), props, children);

/** Creates an SVG element; all props become attributes. @param {string} tag @param {Record<string, any>} [props] @param {...(Node | string)} children @returns {any} */
export function draw(tag, props = {}, ...children) {
  const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) el.setAttribute(name, String(value));
  el.append(...children);
  return el;
}

/** Sets a text only if it changed: a screen reader announces each assignment. @param {Element} el @param {string} text */
export function write(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

/** Announces a text to screen readers. @param {string} text */
export function announce(text) {
  const live = byId("live");
  live.textContent = "";
  setTimeout(() => { live.textContent = text; }, 50); // announces also a repeated text
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let hideTimer;

/** Shows a message for some seconds, with an Undo button if undo is given. @param {string} text @param {() => void} [undo] */
export function toast(text, undo) {
  const box = byId("toast"), onclick = () => { box.hidden = true; undo?.(); };
  box.replaceChildren(make("span", {}, text), ...(undo ? [make("button", { id: "undo", type: "button", className: "plain", onclick }, "Undo")] : []));
  box.hidden = false;
  announce(undo ? `${text} Undo is the next button.` : text);
  clearTimeout(hideTimer);
  hideTimer = setTimeout(() => { box.hidden = true; }, undo ? 10_000 : 6_000);
}
