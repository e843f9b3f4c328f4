// @ts-check
// The page's icons: strokes on a grid of 24, in the color of the text around them.

const SVG = "http://www.w3.org/2000/svg";

/** The path of each icon. */
const PATHS = {
  close: "M6 6l12 12M18 6L6 18",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  maximize: "M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7",
  restore: "M20 10h-6V4M14 10l6-6M4 14h6v6M10 14l-6 6",
  earlier: "M14 6l-6 6 6 6",
  later: "M10 6l6 6-6 6",
  hidden: "M4 4l16 16M9.9 5.2A9.6 9.6 0 0 1 12 5c5 0 8.5 4.5 9.5 7a13 13 0 0 1-2.6 3.6M6.2 6.7A13 13 0 0 0 2.5 12c1 2.5 4.5 7 9.5 7a9.3 9.3 0 0 0 4-.9M10 10a2.8 2.8 0 0 0 4 4",
  visible: "M2.5 12c1-2.5 4.5-7 9.5-7s8.5 4.5 9.5 7c-1 2.5-4.5 7-9.5 7s-8.5-4.5-9.5-7M12 14.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6",
  pin: "M9 4h6l-.8 6 3.3 3.5H6.5L9.8 10 9 4M12 13.5V20",
  beside: "M4 5h16v14H4zM12 5v14M15 12h2.5M16.25 10.75v2.5",
  away: "M4 5h16v14H4zM4 15h16",
  edit: "M5 19h3L19 8l-3-3L5 16v3M13.5 7.5l3 3",
  grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14M16 16l4.5 4.5",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  plus: "M12 5v14M5 12h14",
  theme: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16M12 4v16",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  save: "M12 4v11M7.5 10.5L12 15l4.5-4.5M5 19h14",
  print: "M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z",
  clear: "M5 7h14M9.5 7V4h5v3M7 7l.8 13h8.4L17 7M10.5 11v5M13.5 11v5",
  withdraw: "M12 3.5l7 2.5v5c0 4.5-2.9 7.8-7 9.5-4.1-1.7-7-5-7-9.5V6zM9 12h6",
  link: "M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7L11.5 7M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7L12.5 17",
  board: "M4 5h4.5v14H4zM10 5h4.5v9H10zM16 5h4v6h-4z",
  chart: "M4 4v16h16M8 15l4-5 3 3 5-7",
  form: "M5 4h14v16H5zM8.5 9l1.5 1.5L13 7.5M8.5 15h7",
  page: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  app: "M4 5h16v14H4zM4 9h16M7 7h.01",
};

/** @typedef {keyof typeof PATHS} Icon */

/** Draws an icon, which screen readers skip. @param {Icon} name */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "path");
  for (const [key, value] of Object.entries({ class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" })) svg.setAttribute(key, value);
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** Puts an icon into each element that names one in data-icon. @param {ParentNode} root */
export function drawIcons(root) {
  for (const el of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-icon]"))) setIcon(el, /** @type {Icon} */ (el.dataset.icon));
}

/** Changes the icon of an element, if it has another one. @param {HTMLElement} el @param {Icon} name */
export function setIcon(el, name) {
  const old = el.querySelector(":scope > .icon");
  if (old && el.dataset.icon === name) return;
  el.dataset.icon = name;
  if (old) old.replaceWith(icon(name));
  else el.prepend(icon(name));
}

/** The icon of a kind of canvas. @param {string} [canvasId] @returns {Icon} */
export function kindIcon(canvasId = "") {
  const kind = ["board", "chart", "form", "page"].find((k) => canvasId.includes(k));
  return /** @type {Icon} */ (kind ?? "app");
}
