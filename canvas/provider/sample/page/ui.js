// @ts-check
// Small things that every page needs. Text becomes text nodes: data never
// becomes markup.

/** @param {string} id @returns {any} */
export function byId(id) {
  const el = document.getElementById(id);
  if (!el) throw new Error(`no element #${id}`);
  return el;
}

/**
 * Gives an element properties, or attributes where the name has a dash or is "role".
 * @param {any} el @param {Record<string, any>} props @param {(Node | string)[]} children
 */
function dress(el, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (name.includes("-") || name === "role") el.setAttribute(name, value);
    else el[name] = value;
  }
  el.append(...children);
  return el;
}

/** @param {string} tag @param {Record<string, any>} [props] @param {...(Node | string)} children @returns {any} */
export const make = (tag, props = {}, ...children) => dress(document.createElement(tag), props, children);

/** An SVG element; all of props become attributes. @param {string} tag @param {Record<string, any>} [props] @param {...(Node | string)} children @returns {any} */
export function draw(tag, props = {}, ...children) {
  const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) el.setAttribute(name, String(value));
  el.append(...children);
  return el;
}

/** Writes text where it is another one, so that nothing is said twice. @param {Element} el @param {string} text */
export function write(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

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
  const box = byId("toast"), back = () => { box.hidden = true; undo?.(); };
  box.replaceChildren(make("span", {}, text), ...(undo ? [make("button", { id: "undo", type: "button", className: "plain", onclick: back }, "Undo")] : []));
  box.hidden = false;
  announce(undo ? `${text} Undo is the next button.` : text);
  clearTimeout(hiding);
  hiding = setTimeout(() => { box.hidden = true; }, undo ? 10_000 : 6_000);
}
