// @ts-check
// Shows a direct url in a frame without credentials. This page has its own policy,
// so that the app page's policy does not have to allow every https address.
import { judge, mayKeepOrigin } from "./policy.js";

/** @param {string} name */
const meta = (name) => /** @type {HTMLMetaElement} */ (document.querySelector(`meta[name=${name}]`)).content;

/** @param {string} word */
function say(word) {
  const p = document.createElement("p");
  p.textContent = word;
  document.body.replaceChildren(p);
}

/** @param {string} url @param {MessagePort | undefined} app */
function show(url, app) {
  const verdict = judge(url, "");
  if (verdict.kind !== "direct") return say(verdict.kind === "refused" ? verdict.why : "This address is not shown directly.");
  const frame = /** @type {HTMLIFrameElement & { credentialless: boolean }} */ (document.createElement("iframe"));
  if (!("credentialless" in HTMLIFrameElement.prototype) && verdict.url.startsWith("https:")) {
    return say("This browser cannot load a page without sending your cookies to it, so this canvas is not shown.");
  }
  const own = mayKeepOrigin(verdict.url, meta("app-origins").split(" "), meta("content-origin"));
  frame.setAttribute("sandbox", `allow-scripts allow-forms allow-modals allow-downloads${own ? " allow-same-origin" : ""}`);
  frame.setAttribute("allow", "");
  frame.credentialless = true;
  frame.referrerPolicy = "no-referrer";
  frame.title = document.title;
  frame.src = verdict.url;
  document.body.replaceChildren(frame);
  // Only the url's own documents take part, not those to which the frame navigates.
  const expected = own ? new URL(verdict.url).origin : "null";
  addEventListener("message", ({ data, source, origin }) => {
    if (source === frame.contentWindow && origin === expected && data?.type === "canvas/message") app?.postMessage(data.payload);
  });
  if (app) app.onmessage = ({ data }) => frame.contentWindow?.postMessage({ type: "canvas/message", payload: data }, own ? expected : "*");
}

// Accepts the url only from the app page.
addEventListener("message", ({ data, source, origin, ports: [port] }) => {
  if (source === parent && parent !== self && origin === location.origin && data?.["x-ahp"] === "direct") show(String(data.url), port);
});
