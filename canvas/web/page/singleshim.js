// @ts-check
// The first script in each document of single-document mode (single.js puts it
// there). It sets the theme before the first paint, defines the modules as blobs,
// sends links to other documents to the outer frame, reports what the policy
// blocked, and fires the submit events that the sandbox suppresses.
/** @param {{ theme: any, modules: Record<string, string>, scheme: string, title: string }} given */
function prepareDocument(given) {
  const own = document.currentScript;
  /** @param {any} theme */
  const paint = (theme) => {
    const root = document.documentElement;
    root.dataset.colorMode = theme.mode;
    root.dataset.titled = String(theme.titled === true);
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
  Object.defineProperty(globalThis, "ahpSingle", { value: true }); // read by canvas.js
  addEventListener("pagehide", () => parent.postMessage({ "x-ahp": "bye" }, "*"));
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Reflect.deleteProperty(globalThis, name);

  addEventListener("message", (event) => {
    if (event.source !== parent) return;
    if (event.data?.["x-ahp"] === "theme") paint(event.data.theme);
    if (event.data?.["x-ahp"] === "look") look(event.data);
    if (event.data?.["x-ahp"] === "sketch") sketch(event.data);
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
  addEventListener("keydown", (event) => {
    if (event.isTrusted && event.key === "Escape" && !event.isComposing) setTimeout(() => { if (!event.defaultPrevented) parent.postMessage({ "x-ahp": "key" }, "*"); });
  });
  submitEvents();
}

/** Answers with a sketch of this document, as frame.js does. @param {{ id: number }} m */
function sketch({ id }) {
  try {
    parent.postMessage({ "x-ahp": "looked", id, sketch: /** @type {any} */ (globalThis).ahpSketch(document) }, "*");
  } catch {} // the document has changed what is read here
}

/** Answers what this document shows, as frame.js does. @param {{ id: number, masked: boolean }} m */
async function look({ id, masked }) {
  const { ahpProblems, ahpOutline, ahpMask } = /** @type {any} */ (globalThis);
  let seen = {};
  try {
    const { problems, dropped } = ahpProblems?.take() ?? { problems: [], dropped: 0 };
    seen = {
      problems, dropped, idle: ahpProblems?.idle?.(), outline: ahpOutline(document), full: document.documentElement.scrollHeight,
      revision: Number(/** @type {HTMLElement | null} */ (document.querySelector("script[data-ahp-page]"))?.dataset.ahpPage) || 0,
    };
    if (masked) {
      ahpMask(document);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))); // it has been painted
      seen = { ...seen, masked: true };
    }
  } catch {} // the document has changed what is read here
  parent.postMessage({ "x-ahp": "looked", id, ...seen }, "*");
}

/**
 * Fires the submit events that this document's sandbox suppresses: without
 * allow-forms, a browser drops a submission before it validates the form and
 * before it fires submit, so that no handler of the page would ever run. The
 * steps are HTML's "submit a form element", without the navigation.
 *
 * Native methods are called on prototypes: a form's named inputs shadow its own.
 */
function submitEvents() {
  const form = HTMLFormElement.prototype;
  const { requestSubmit: nativeRequestSubmit, reportValidity } = form;
  const firing = new WeakSet();

  /** @param {Element} element @param {string} name @param {HTMLElement | null} submitter whose form* attribute overrides */
  const attribute = (element, name, submitter) => submitter?.getAttribute(`form${name}`) ?? Element.prototype.getAttribute.call(element, name);

  /** @param {HTMLFormElement} target @param {HTMLButtonElement | HTMLInputElement | null} submitter */
  function submit(target, submitter) {
    if (!Reflect.get(Node.prototype, "isConnected", target) || firing.has(target)) return;
    firing.add(target);
    try {
      if (attribute(target, "novalidate", submitter) === null && !reportValidity.call(target)) return;
      const event = new SubmitEvent("submit", { bubbles: true, cancelable: true, submitter });
      if (!EventTarget.prototype.dispatchEvent.call(target, event)) return;
    } finally {
      firing.delete(target);
    }
    if (attribute(target, "method", submitter)?.toLowerCase() !== "dialog") {
      parent.postMessage({ "x-ahp": "lack", what: attribute(target, "action", submitter) || "a form" }, "*");
    } else {
      /** @type {HTMLDialogElement | null} */ (Element.prototype.closest.call(target, "dialog"))?.close(submitter?.getAttribute("value") ?? undefined);
    }
  }

  /** @param {unknown} node @returns {node is HTMLButtonElement | HTMLInputElement} */
  const isSubmitButton = (node) => (node instanceof HTMLButtonElement && node.type === "submit") || (node instanceof HTMLInputElement && /^(submit|image)$/.test(node.type));

  /**
   * Runs fn after all of the page's handlers for this event, unless one of them
   * prevented it. The listener is the first of all, so a handler that stops the
   * event's propagation does not hide it.
   * @param {string} type @param {(event: any) => (() => void) | undefined} decide
   */
  const afterwards = (type, decide) => addEventListener(type, (event) => {
    const fn = decide(event);
    if (fn) setTimeout(() => { if (!event.defaultPrevented) fn(); });
  }, { capture: true });

  afterwards("click", (event) => {
    const button = event.composedPath().find(isSubmitButton);
    return button && (() => { if (button.form && !button.matches(":disabled")) submit(button.form, button); });
  });

  // Enter in a form with a submit button clicks that button; this is a form without one.
  afterwards("keypress", (event) => {
    const [input] = event.composedPath();
    if (event.key !== "Enter" || !(input instanceof HTMLInputElement) || !blocksImplicit(input)) return undefined;
    return () => {
      const owner = input.form;
      const controls = owner ? [...document.querySelectorAll("button, input")].filter((c) => /** @type {HTMLInputElement} */ (c).form === owner) : [];
      if (owner && !controls.some(isSubmitButton) && controls.filter(blocksImplicit).length === 1) submit(owner, null);
    };
  });

  form.requestSubmit = function requestSubmit(submitter = null) {
    nativeRequestSubmit.call(this, submitter); // checks the arguments and throws; the sandbox stops the rest
    submit(this, /** @type {HTMLButtonElement | null} */ (submitter));
  };
}

/** Whether HTML lets a field like this submit its form by Enter only if it is the form's only one. @param {unknown} node @returns {node is HTMLInputElement} */
const blocksImplicit = (node) => node instanceof HTMLInputElement && /^(text|search|tel|url|email|password|date|month|week|time|datetime-local|number)$/.test(node.type);
