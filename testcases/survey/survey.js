// What the survey asks of an app's document, from the frame of its canvas or from its tab.

/** The app's window. */
const app = () => (location.pathname === "/.ahp/frame.html" ? document.querySelector("iframe")?.contentWindow : window);

/** What a person sees, for comparing: numbers are left out, they are often times and ports. */
const text = () => (app().document.body?.innerText ?? "").replace(/[0-9]+/g, "#").replace(/\s+/g, " ").trim();

/** Elements of a document and of its open shadow roots. */
const all = (selector, root = app().document) => [
  ...root.querySelectorAll(selector),
  ...[...root.querySelectorAll("*")].filter((el) => el.shadowRoot).flatMap((el) => all(selector, el.shadowRoot)),
];

/** All that a press may change, as one string. */
function state() {
  const { document, location } = app();
  const values = all("input, textarea, select").map((el) => `${el.value}/${el.checked}`);
  const marks = all("[aria-expanded], [aria-selected], [aria-pressed], [aria-checked], [open]").map((el) => ["aria-expanded", "aria-selected", "aria-pressed", "aria-checked", "open"].map((name) => el.getAttribute(name)).join("/"));
  return JSON.stringify([text(), location.pathname + location.search + location.hash, values, marks, document.documentElement.className, document.body?.className]).replace(/[0-9]+/g, "#");
}

/** Waits until the document has not changed for a while. */
async function quiet(patience) {
  const end = performance.now() + patience;
  for (let last = ""; performance.now() < end; ) {
    await new Promise((r) => setTimeout(r, 250));
    let now = "";
    try {
      now = app()?.document.readyState === "complete" ? state() : "";
    } catch {} // between two documents
    if (now && now === last) return true;
    last = now;
  }
  return false;
}

const CONTROLS = "button, a[href], input, textarea, select, summary, [role=button], [role=tab], [role=menuitem], [role=checkbox], [role=switch], [role=option]";

/** What a person calls a control. */
const nameOf = (el) =>
  `${el.localName}${el.type ? ":" + el.type : ""} ${(el.getAttribute("aria-label") || el.innerText || el.title || el.name || el.placeholder || el.id || "").trim().replace(/\s+/g, " ").slice(0, 40)}`.replace(/[0-9]+/g, "#");

/** Whether a link leaves the app, or saves a file. */
const leaves = (el) => el.localName === "a" && (new URL(el.href, app().document.baseURI).origin !== app().location.origin || el.target === "_blank" || el.hasAttribute("download"));

const visible = (el) => {
  const { width, height } = el.getBoundingClientRect();
  return width > 2 && height > 2 && app().getComputedStyle(el).visibility !== "hidden" && !el.disabled;
};

/** The controls with the names that tell them apart. */
function controls() {
  const seen = new Map();
  return all(CONTROLS).filter((el) => visible(el) && !leaves(el)).map((el) => {
    const name = nameOf(el);
    const n = (seen.get(name) ?? 0) + 1;
    seen.set(name, n);
    return { el, name: n > 1 ? `${name} (${n})` : name };
  });
}

/** The point at which an element is pressed, or why it cannot be. */
async function pointOf(el) {
  el.scrollIntoView({ block: "center", inline: "center" });
  await new Promise((r) => setTimeout(r, 50));
  const { left, top, width, height } = el.getBoundingClientRect();
  const at = { x: left + width / 2, y: top + height / 2 };
  const hit = el.getRootNode().elementFromPoint(at.x, at.y);
  if (!hit) return { why: "outside" };
  if (hit !== el && !el.contains(hit) && !hit.contains(el)) return { why: "covered" };
  return { at, typed: /^(textarea|input)$/.test(el.localName) && !/^(button|submit|checkbox|radio|file|range|color|reset)$/.test(el.type) };
}
