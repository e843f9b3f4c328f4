// @ts-check
// Put by the service worker before everything else in the canvas's document, so
// that the theme is there before the first paint, and so that a page which asks
// whether there is WebRTC hears no: Chromium ends the process of a page that uses
// it under our policies.
"use strict";
{
  const theme = (() => {
    try {
      return parent !== self && parent.location.pathname === "/.ahp/frame.html" ? /** @type {any} */ (parent).ahpTheme : undefined;
    } catch {
      return undefined; // a frame of another origin: not ours to ask
    }
  })();
  if (theme) {
    const root = document.documentElement;
    root.dataset.colorMode = theme.mode;
    for (const [name, value] of Object.entries(theme.tokens)) root.style.setProperty(name, /** @type {string} */ (value));
  }
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Reflect.deleteProperty(globalThis, name);
  document.currentScript?.remove();
}
