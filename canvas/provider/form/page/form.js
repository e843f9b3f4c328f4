// @ts-check
// The form's page: it draws the form that the host holds, sends what is entered,
// and puts the person's decision to the agent.
import { ask, onState } from "./link.js";
import { announce, byId, toast, write } from "./ui.js";
import { makeControl } from "./controls.js";

/** @typedef {{ name: string, label: string, type: string, options?: string[], required?: boolean }} Field */
/** @typedef {{ title: string, description?: string, fields: Field[], approveLabel: string, declineLabel: string, version: number, values: Record<string, any>, decision: string, reason?: string }} State */
/** @typedef {import("./controls.js").Control} Control */

/** @type {State | undefined} */
let state;
/** @type {Map<string, Control>} */
let controls = new Map();
let tried = false; // to approve: from then on what is wrong is said while typing

/** @param {State} next */
function show(next) {
  const before = state;
  state = next;
  document.title = next.title;
  write(byId("title"), next.title);
  write(byId("description"), next.description ?? "");
  byId("description").hidden = !next.description;
  write(byId("approve"), next.approveLabel);
  write(byId("decline"), next.declineLabel);
  if (before?.version !== next.version) build(next, before);
  for (const c of controls.values()) c.show(valueOf(next, c.field.name));
  showDecision(next, before);
  count();
  byId("message").hidden = true;
  byId("form").hidden = false;
  document.body.setAttribute("aria-busy", "false");
}

/** A field may be called what every object has: "constructor". @param {State} s @param {string} name */
const valueOf = (s, name) => (Object.hasOwn(s.values, name) ? s.values[name] : undefined);

/** Makes the controls of a question. What had the focus gets it back, and what was typed and not sent goes on. @param {State} next @param {State} [before] */
function build(next, before) {
  const focused = [...controls.values()].find((c) => c.el.contains(document.activeElement))?.field.name;
  const unsent = [...controls.values()].map((c) => /** @type {const} */ ([c.field, c.drop()]));
  controls = new Map(next.fields.map((f, n) => [f.name, makeControl(f, `field-${n}`, (value) => edit(f.name, value), typed)]));
  byId("fields").replaceChildren(...[...controls.values()].map((c) => c.el));
  for (const [field, value] of unsent) {
    const same = controls.get(field.name);
    if (value !== undefined && next.decision === "pending" && same?.field.type === field.type) same.take(value);
  }
  if (before?.decision !== "pending") byId("reason").value = ""; // it was of a decision; else it is being typed
  tried = false;
  problems();
  if (before) announce(next.decision === "pending" ? "The agent has changed the form." : "");
  if (focused) controls.get(focused)?.focus();
}

/** @param {State} next @param {State} [before] */
function showDecision(next, before) {
  const open = next.decision === "pending";
  const words = next.decision === "approved" ? "Approved" : "Declined";
  for (const c of controls.values()) c.lock(!open);
  byId("answer").hidden = byId("foot").hidden = !open;
  byId("decision").hidden = open;
  if (open) return;
  byId("decision").classList.toggle("declined", next.decision === "declined");
  write(byId("sign"), next.decision === "approved" ? "✓" : "✕");
  write(byId("decided"), words);
  write(byId("why"), next.reason ? `“${next.reason}”` : "The agent has the answer. Nothing can be changed now.");
  if (before?.decision !== "pending") return;
  byId("decision").focus();
  announce(`${words}. The agent has the answer.`);
}

/** How far the form is. */
function count() {
  const next = state;
  if (!next) return;
  const required = [...controls.values()].filter((c) => c.field.required), filled = required.filter((c) => !c.problem());
  const open = next.decision === "pending", meter = byId("meter");
  meter.max = Math.max(required.length, 1);
  meter.value = open ? filled.length : next.decision === "approved" ? meter.max : 0;
  write(byId("status"), !open ? "Read-only" : required.length ? `${filled.length} of ${required.length} required filled in` : "Waits for your answer");
}

function typed() {
  count();
  if (tried) problems();
}

/** Shows what is wrong. @returns {Control[]} */
function problems() {
  const wrong = [...controls.values()].filter((c) => c.tell(tried ? c.problem() : ""));
  write(byId("problems"), wrong.length === 0 ? "" : wrong.length === 1 ? "One field needs you." : `${wrong.length} fields need you.`);
  return wrong;
}

/** @param {string} name @param {any} value */
function edit(name, value) {
  if (state?.decision !== "pending") return;
  const { version } = state, type = controls.get(name)?.field.type;
  ask("edit", { version, name, value }).catch((err) => {
    const now = controls.get(name); // the agent may have asked anew meanwhile: what was typed goes on
    if (state?.version !== version && state?.decision === "pending" && now?.field.type === type) now?.take(value);
    else toast(err.message);
  });
}

/** @param {"approved" | "declined"} decision */
async function decide(decision) {
  if (state?.decision !== "pending") return;
  tried = decision === "approved";
  const wrong = problems();
  if (wrong.length) {
    wrong[0].focus();
    announce(`${byId("problems").textContent} ${wrong[0].field.label}: ${wrong[0].problem()}`);
    return;
  }
  const buttons = [byId("approve"), byId("decline")];
  const values = Object.fromEntries([...controls].map(([name, c]) => [name, decision === "declined" && c.problem() ? null : c.value()]));
  for (const b of buttons) b.setAttribute("aria-disabled", "true");
  try {
    await ask("decide", { version: state.version, decision, values, reason: byId("reason").value });
  } catch (err) {
    toast(/** @type {Error} */ (err).message);
  }
  for (const b of buttons) b.removeAttribute("aria-disabled");
}

byId("approve").onclick = () => decide("approved");
byId("decline").onclick = () => decide("declined");
byId("form").addEventListener("submit", (/** @type {Event} */ e) => e.preventDefault()); // Enter in a field decides nothing
byId("form").addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) decide("approved");
});
onState(show);
