// @ts-check
// A direct url in a frame without credentials. This page has a policy of its
// own, so that the app page needs none that allows every https address.
import { judge, mayKeepOrigin } from "./policy.js";

/** @param {string} name */
const meta = (name) => /** @type {HTMLMetaElement} */ (document.querySelector(`meta[name=${name}]`)).content;

/** @param {string} word */
function say(word) {
  const p = document.createElement("p");
  p.textContent = word;
  document.body.replaceChildren(p);
}

/** @param {string} url */
function show(url) {
  const verdict = judge(url, "");
  if (verdict.kind !== "direct") return say(verdict.kind === "refused" ? verdict.why : "This address is not shown directly.");
  const frame = /** @type {HTMLIFrameElement & { credentialless: boolean }} */ (document.createElement("iframe"));
  if (!("credentialless" in HTMLIFrameElement.prototype) && verdict.url.startsWith("https:")) {
    return say("This browser cannot open a page without your cookies for it, so the address of this canvas is not shown.");
  }
  const own = mayKeepOrigin(verdict.url, meta("app-origins").split(" "), meta("content-origin"));
  frame.setAttribute("sandbox", `allow-scripts allow-forms allow-modals allow-downloads${own ? " allow-same-origin" : ""}`);
  frame.setAttribute("allow", "");
  frame.credentialless = true;
  frame.referrerPolicy = "no-referrer";
  frame.title = document.title;
  frame.src = verdict.url;
  document.body.replaceChildren(frame);
}

// Only the app page says what is shown, and only to the frame that it made for that.
addEventListener("message", ({ data, source, origin }) => {
  if (source === parent && parent !== self && origin === location.origin && data?.["x-ahp"] === "direct") show(String(data.url));
});
