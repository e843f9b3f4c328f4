// @ts-check
// Printing a canvas: its frame cannot open the dialog, so the page prints itself with this
// one canvas, as long as its document.

const MAX_HEIGHT = 20_000; // px, about twenty sheets

/** @param {HTMLElement} card @param {any} seen what its frame says of the document; untrusted */
export function printCard(card, seen) {
  const full = typeof seen?.full === "number" && seen.full > 0 ? Math.min(seen.full, MAX_HEIGHT) : 1000;
  const { body } = document;
  card.dataset.printing = body.dataset.printing = "true";
  body.style.setProperty("--print-height", `${Math.ceil(full)}px`);
  const end = () => {
    delete card.dataset.printing;
    delete body.dataset.printing;
    body.style.removeProperty("--print-height");
  };
  addEventListener("afterprint", end, { once: true });
  // The frame has its new size in the second frame.
  requestAnimationFrame(() => requestAnimationFrame(() => print()));
}
