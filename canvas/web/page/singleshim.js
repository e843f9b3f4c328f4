// @ts-check
// What stands first in a document of single-document mode (single.js puts it
// there): the theme before the first paint, the modules as blobs of this
// document, links to other documents handed to the frame around, and a word
// about everything that the policy kept from the canvas.
/** @param {{ theme: any, modules: Record<string, string>, scheme: string, title: string }} given */
function standFirst(given) {
  const own = document.currentScript;
  /** @param {any} theme */
  const paint = (theme) => {
    const root = document.documentElement;
    root.dataset.colorMode = theme.mode;
    root.style.colorScheme = theme.mode;
    for (const [name, value] of Object.entries(theme.tokens)) root.style.setProperty(name, String(value));
  };
  paint(given.theme);

  const map = document.createElement("script");
  map.type = "importmap";
  map.textContent = JSON.stringify({ imports: Object.fromEntries(Object.entries(given.modules).map(([path, code]) =>
    [given.scheme + path, URL.createObjectURL(new Blob([code], { type: "text/javascript" }))])) });
  own?.after(map);
  own?.remove();
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Reflect.deleteProperty(globalThis, name);

  addEventListener("message", (event) => {
    if (event.source !== parent) return;
    if (event.data?.["x-ahp"] === "theme") paint(event.data.theme);
    if (event.data?.["x-ahp"] === "here?") parent.postMessage({ "x-ahp": "here" }, "*");
  });
  addEventListener("securitypolicyviolation", ({ blockedURI }) => {
    parent.postMessage({ "x-ahp": "lack", what: blockedURI.replace(/^https?:\/\/[^/]*(?=\/)/, (o) => (document.baseURI.startsWith(o) ? "" : o)) }, "*");
  });
  addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    const href = link?.getAttribute("href") ?? "";
    if (!link || event.defaultPrevented || link.hasAttribute("download") || /^[a-z][a-z0-9+.-]*:/i.test(href)) return;
    event.preventDefault();
    if (href.startsWith("#")) document.getElementById(decodeURIComponent(href.slice(1)))?.scrollIntoView();
    else parent.postMessage({ "x-ahp": "go", path: new URL(href, "http://canvas/").pathname }, "*");
  });
}
