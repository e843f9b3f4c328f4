// @ts-check
// Dragging with the pointer, from press to release.

/**
 * Calls moved while an element is dragged. The class dragging disables the frames, which
 * would take the pointer's events.
 * @param {HTMLElement} handle @param {(e: PointerEvent) => void} moved @param {(e: PointerEvent) => void} [dropped] called once at the end, if it was moved
 * @param {string} [skip] what inside the handle is not for dragging
 */
export function drag(handle, moved, dropped = () => {}, skip = "button") {
  handle.addEventListener("pointerdown", (e) => {
    if (e.button !== 0 || (skip && /** @type {Element} */ (e.target).closest(skip))) return;
    if (skip) handle.setPointerCapture(e.pointerId);
    document.body.classList.add("dragging");
    const over = new AbortController(), { signal } = over;
    const source = skip ? handle : window;
    let far = false;
    source.addEventListener("pointermove", (m) => {
      const at = /** @type {PointerEvent} */ (m);
      far ||= Math.hypot(at.clientX - e.clientX, at.clientY - e.clientY) > 6;
      if (far || skip) moved(at);
    }, { signal });
    // On window: a handle whose canvas is closed meanwhile gets no event, and the frames would stay disabled.
    for (const end of ["lostpointercapture", "pointerup", "pointercancel"]) {
      addEventListener(end, (/** @type {any} */ m) => {
        if (m.pointerId !== e.pointerId) return;
        document.body.classList.remove("dragging");
        over.abort();
        if (far && m.type === "pointerup") dropped(m);
      }, { signal });
    }
  });
}
