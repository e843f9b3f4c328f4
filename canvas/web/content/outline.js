// @ts-check
// Describes a canvas's document for an agent: roles, names and values, as a screen reader
// has them, one element a line. The host puts this in front of frame.js. What people type
// into passwords, and what is marked data-private, is not in it.
"use strict";
{
  const MAX = 8 * 1024; // characters
  const MAX_NODES = 20_000; // elements that are visited
  const HIDDEN = "•••";
  /** @type {Record<string, string>} */
  const ROLES = {
    A: "link", BUTTON: "button", SUMMARY: "button", H1: "heading 1", H2: "heading 2", H3: "heading 3", H4: "heading 4", H5: "heading 5", H6: "heading 6",
    IMG: "image", SELECT: "combobox", TEXTAREA: "textbox", NAV: "navigation", MAIN: "main", FORM: "form", TABLE: "table", TR: "row", TH: "columnheader", TD: "cell",
    UL: "list", OL: "list", LI: "listitem", DIALOG: "dialog", PROGRESS: "progressbar", METER: "meter", CANVAS: "canvas", VIDEO: "video", AUDIO: "audio", IFRAME: "frame",
    HEADER: "banner", FOOTER: "contentinfo", ARTICLE: "article", ASIDE: "complementary", FIELDSET: "group", OPTION: "option", OUTPUT: "status", LABEL: "label", SVG: "image",
  };
  /** @type {Record<string, string>} */
  const INPUTS = { button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton", search: "searchbox" };
  const SKIPPED = new Set(["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "HEAD", "META", "LINK"]);
  /** Elements whose name is their whole text. */
  const LEAVES = new Set(["A", "BUTTON", "SUMMARY", "H1", "H2", "H3", "H4", "H5", "H6", "OPTION", "LABEL"]);

  /** @param {any} text @param {number} [most] */
  const line = (text, most = 200) => {
    const s = String(text ?? "").slice(0, 4 * most).replace(/\s+/g, " ").trim();
    return s.length > most ? `${s.slice(0, most)}…` : s;
  };

  /** @param {any} el */
  const roleOf = (el) => line(el.getAttribute("role"), 40) || (el.tagName === "INPUT" ? INPUTS[el.type] ?? "textbox" : ROLES[el.tagName.toUpperCase()] ?? "");

  /** @param {any} el @param {Document} doc */
  function nameOf(el, doc) {
    const by = el.getAttribute("aria-labelledby");
    if (by) return line(by.split(/\s+/).map((/** @type {string} */ id) => doc.getElementById(id)?.textContent ?? "").join(" "));
    const label = el.getAttribute("aria-label") || el.getAttribute("alt") || (el.labels?.[0] && !el.labels[0].closest("[data-private]") && el.labels[0].textContent) || el.getAttribute("title") || el.getAttribute("placeholder");
    if (label) return line(label);
    return LEAVES.has(el.tagName) && !el.querySelector("input, select, textarea, [data-private]") ? line(el.textContent) : "";
  }

  /** The state and the value of a control. @param {any} el */
  function valueOf(el) {
    const out = [];
    if (el.tagName === "INPUT" && ["checkbox", "radio"].includes(el.type)) out.push(el.checked ? "checked" : "not checked");
    else if (el.tagName === "INPUT" && el.type === "password") { if (el.value) out.push(`= ${HIDDEN}`); }
    else if (el.tagName === "SELECT") out.push(`= ${line(el.selectedOptions?.[0]?.textContent)}`);
    else if (["INPUT", "TEXTAREA", "PROGRESS", "METER"].includes(el.tagName) && el.value !== "" && !INPUTS[el.type]?.startsWith("button")) out.push(`= ${line(el.value)}`);
    if (el.disabled) out.push("disabled");
    for (const name of ["expanded", "selected", "pressed", "checked", "invalid", "valuetext", "valuenow"]) {
      const value = el.getAttribute(`aria-${name}`);
      if (value) out.push(`${name} ${line(value, 40)}`);
    }
    return out.join(", ");
  }

  /** @param {Document} doc @returns {string} */
  function outline(doc) {
    let text = "", visited = 0;
    /** @param {number} depth @param {string} s */
    const put = (depth, s) => { if (s && text.length <= MAX) text += `${"  ".repeat(Math.min(depth, 12))}${s}\n`; };

    /** @param {any} node @param {number} depth @param {Document} own @param {number} level of nesting */
    function walk(node, depth, own, level) {
      if (text.length > MAX || ++visited > MAX_NODES || level > 200) return;
      if (node.nodeType === 3) return put(depth, line(node.data) && `"${line(node.data)}"`);
      if (node.nodeType !== 1 && node.nodeType !== 11) return;
      if (node.nodeType === 1) {
        if (SKIPPED.has(node.tagName) || node.hidden || node.getAttribute("aria-hidden") === "true" || node.checkVisibility?.({ visibilityProperty: true }) === false) return;
        const role = roleOf(node);
        if (node.hasAttribute("data-private")) return put(depth, `${role || "text"} ${HIDDEN}`);
        const name = nameOf(node, own), value = valueOf(node);
        if (role && !["none", "presentation"].includes(role)) {
          put(depth++, [role, name && `"${name}"`, value].filter(Boolean).join(" "));
          if (LEAVES.has(node.tagName) && name) return [...node.querySelectorAll("input, select, textarea")].forEach((el) => walk(el, depth, own, level + 1));
        }
        if (["SELECT", "TEXTAREA", "svg", "SVG"].includes(node.tagName)) return;
        if (node.tagName === "IFRAME") {
          try {
            const inside = node.contentDocument;
            if (inside?.body) walk(inside.body, depth, inside, level + 1);
          } catch {} // of another origin
          return;
        }
        if (node.shadowRoot) return walk(node.shadowRoot, depth, own, level + 1);
      }
      for (const child of node.childNodes) walk(child, depth, own, level + 1);
    }

    if (doc.title) put(0, `title "${line(doc.title)}"`);
    if (doc.body) walk(doc.body, 0, doc, 0);
    return text.length > MAX ? `${text.slice(0, MAX - 1)}…` : text;
  }
  // Descendants too: an open dialog is drawn in the top layer, outside of what hides its parents.
  const MASK = "[data-private], [data-private] * { opacity: 0 !important; clip-path: inset(100%) !important; transition: none !important; animation: none !important }";

  /** Hides what is marked data-private from a picture, in this document, its shadow trees and its frames. @param {any} root a document or a shadow root */
  function mask(root) {
    const view = (root.defaultView ?? root.ownerDocument.defaultView);
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(MASK);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    for (const el of root.querySelectorAll("*")) {
      if (el.shadowRoot) mask(el.shadowRoot);
      try {
        if (el.tagName === "IFRAME" && el.contentDocument?.body) mask(el.contentDocument);
      } catch {} // of another origin
    }
  }
  Object.defineProperty(globalThis, "ahpOutline", { value: outline });
  Object.defineProperty(globalThis, "ahpMask", { value: mask });
}
