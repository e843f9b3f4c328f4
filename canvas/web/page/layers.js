// @ts-check
// What Escape closes: the menu, then what was opened last. A canvas that does not use the
// key itself reports it, so that it also works from inside a canvas.
import { closeMenu } from "./menu.js";

/** @type {(() => void)[]} what closes each open layer, the newest last */
const layers = [];

/** Registers something that Escape closes. @param {() => void} close @returns {() => void} removes it, when it was closed otherwise */
export function addLayer(close) {
  layers.push(close);
  return () => {
    const at = layers.indexOf(close);
    if (at >= 0) layers.splice(at, 1);
  };
}

/** Closes what was opened last. @returns {boolean} false if nothing was open */
export function closeLast() {
  if (closeMenu()) return true;
  const close = layers.pop();
  close?.();
  return close !== undefined;
}

addEventListener("keydown", (e) => {
  if (e.key !== "Escape" || e.defaultPrevented) return;
  if (closeLast()) e.preventDefault(); // a dialog would close a second layer
});
