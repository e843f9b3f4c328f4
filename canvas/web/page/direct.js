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

const verdict = judge(decodeURIComponent(location.hash.slice(1)), "");
const frame = /** @type {HTMLIFrameElement & { credentialless: boolean }} */ (document.createElement("iframe"));

if (verdict.kind !== "direct") {
  say(verdict.kind === "refused" ? verdict.why : "This address is not shown directly.");
} else if (!("credentialless" in HTMLIFrameElement.prototype) && verdict.url.startsWith("https:")) {
  say("This browser cannot open a page without your cookies for it, so the address of this canvas is not shown.");
} else {
  const own = mayKeepOrigin(verdict.url, meta("app-origins").split(" "), meta("content-origin"));
  frame.setAttribute("sandbox", `allow-scripts allow-forms allow-modals allow-downloads${own ? " allow-same-origin" : ""}`);
  frame.setAttribute("allow", "");
  frame.credentialless = true;
  frame.referrerPolicy = "no-referrer";
  frame.title = document.title;
  frame.src = verdict.url;
  document.body.append(frame);
}
