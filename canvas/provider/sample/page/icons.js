// @ts-check
// Icons for the pages, from the same set as the host's page.
import { draw } from "./ui.js";

const PATHS = {
  earlier: "M14 6l-6 6 6 6",
  later: "M10 6l6 6-6 6",
  close: "M6 6l12 12M18 6L6 18",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  edit: "M5 19h3L19 8l-3-3L5 16v3M13.5 7.5l3 3",
  grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
  plus: "M12 5v14M5 12h14",
};

/** Draws an icon, which screen readers skip. @param {keyof typeof PATHS} name */
export const glyph = (name) => draw("svg", { class: "glyph", viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("path", { d: PATHS[name] }));
