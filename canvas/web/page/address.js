// @ts-check
// The address of each canvas: #canvas=<instance id>, beside the session and host that the
// link names. The token is never in it: key.js takes it out before this runs.

const NAME = "canvas";

/** The canvas that the address names; "" if none. */
export const addressed = () => new URLSearchParams(location.hash.slice(1)).get(NAME) ?? "";

/** The fragment of a canvas's address. @param {string} id */
export function fragment(id) {
  const parts = new URLSearchParams(location.hash.slice(1));
  parts.set(NAME, id);
  return `#${parts}`;
}

/** Puts a canvas into the address, as a step that the browser's Back button undoes. @param {string} id */
export function setAddress(id) {
  if (addressed() === id) return;
  history.pushState(null, "", fragment(id));
}

/** What the page was loaded for: everything in the fragment but the canvas. */
const rest = () => {
  const parts = new URLSearchParams(location.hash.slice(1));
  parts.delete(NAME);
  return parts.toString();
};

/** Follows the address: another canvas is shown, another link is loaded. @param {(id: string) => void} show */
export function followAddress(show) {
  const loaded = rest();
  const follow = () => {
    if (rest() !== loaded) location.reload();
    else if (addressed()) show(addressed());
  };
  addEventListener("hashchange", follow);
  addEventListener("popstate", follow);
}
