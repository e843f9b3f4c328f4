// @ts-check
// The page before it has its link: its modules are loaded. The browser that makes pictures
// keeps such a page for the next one, and begins it with the fragment of the link.

document.body.dataset.connection = "connecting"; // first.js: the page runs
/** @type {any} */ (globalThis).ahpBegin = (/** @type {string} */ fragment) => {
  history.replaceState(null, "", new URL(`.${fragment}`, import.meta.url));
  return import("./app.js").then(() => {});
};
