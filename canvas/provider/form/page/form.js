// @ts-check
// The form's page: it draws the form that it receives, sends what the person enters,
// and sends their decision.
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
let triedToApprove = false; // from then on, problems are shown while typing

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
  showProgress();
  byId("message").hidden = true;
  byId("form").hidden = false;
  document.body.setAttribute("aria-busy", "false");
}

/** Returns a field's value. Its name can be one that every object has, such as "constructor". @param {State} s @param {string} name */
const valueOf = (s, name) => (Object.hasOwn(s.values, name) ? s.values[name] : undefined);

/** Creates the controls of a question. The focus and input that was not sent yet carry over. @param {State} next @param {State} [before] */
function build(next, before) {
  const focused = [...controls.values()].find((c) => c.el.contains(document.activeElement))?.field.name;
  const unsent = [...controls.values()].map((c) => /** @type {const} */ ([c.field, c.drop()]));
  controls = new Map(next.fields.map((f, n) => [f.name, makeControl(f, `field-${n}`, (value) => edit(f.name, value), onTyped)]));
  byId("fields").replaceChildren(...[...controls.values()].map((c) => c.el));
  for (const [field, value] of unsent) {
    const same = controls.get(field.name);
    if (value !== undefined && next.decision === "pending" && same?.field.type === field.type) same.resume(value);
  }
  if (before?.decision !== "pending") byId("reason").value = ""; // it belongs to the last decision; otherwise the person is typing it
  triedToApprove = false;
  showProblems();
  if (before) announce(next.decision === "pending" ? "The agent has changed the form." : "");
  if (focused) controls.get(focused)?.focus();
}

/** @param {State} next @param {State} [before] */
function showDecision(next, before) {
  const open = next.decision === "pending";
  const outcome = next.decision === "approved" ? "Approved" : "Declined";
  for (const c of controls.values()) c.lock(!open);
  byId("answer").hidden = byId("foot").hidden = !open;
  byId("decision").hidden = open;
  if (open) return;
  byId("decision").classList.toggle("declined", next.decision === "declined");
  write(byId("sign"), next.decision === "approved" ? "✓" : "✕");
  write(byId("decided"), outcome);
  write(byId("why"), next.reason ? `“${next.reason}”` : "The agent has the answer. It can no longer be changed.");
  if (before?.decision !== "pending") return;
  byId("decision").focus();
  announce(`${outcome}. The agent has the answer.`);
}

/** Shows how many required fields are filled in. */
function showProgress() {
  const next = state;
  if (!next) return;
  const required = [...controls.values()].filter((c) => c.field.required), filled = required.filter((c) => !c.problem());
  const open = next.decision === "pending", meter = byId("meter");
  meter.max = Math.max(required.length, 1);
  meter.value = open ? filled.length : next.decision === "approved" ? meter.max : 0;
  write(byId("status"), !open ? "Read-only" : required.length ? `${filled.length} of ${required.length} required fields filled in` : "Waiting for your answer");
}

function onTyped() {
  showProgress();
  if (triedToApprove) showProblems();
}

/** Shows the problems after a try to approve. @returns {Control[]} the controls with a problem */
function showProblems() {
  const wrong = [...controls.values()].filter((c) => c.showProblem(triedToApprove ? c.problem() : ""));
  write(byId("problems"), wrong.length === 0 ? "" : wrong.length === 1 ? "One field needs your attention." : `${wrong.length} fields need your attention.`);
  return wrong;
}

/** @param {string} name @param {any} value */
function edit(name, value) {
  if (state?.decision !== "pending") return;
  const { version } = state, type = controls.get(name)?.field.type;
  ask("edit", { version, name, value }).catch((err) => {
    const now = controls.get(name); // if the agent changed the form meanwhile, the input carries over
    if (state?.version !== version && state?.decision === "pending" && now?.field.type === type) now?.resume(value);
    else toast(err.message);
  });
}

/** @param {"approved" | "declined"} decision */
async function decide(decision) {
  if (state?.decision !== "pending") return;
  triedToApprove = decision === "approved";
  const wrong = showProblems();
  if (wrong.length) {
    wrong[0].focus();
    announce(`${byId("problems").textContent} ${wrong[0].field.label}: ${wrong[0].problem()}`);
    return;
  }
  const buttons = [byId("approve"), byId("decline")];
  const values = Object.fromEntries([...controls].map(([name, c]) => [name, decision === "declined" && c.problem() ? null : c.value()]));
  for (const b of buttons) b.setAttribute("aria-disabled", "true");
  try {
    await ask("decide", { question: state.title, version: state.version, decision, values, reason: byId("reason").value });
  } catch (err) {
    toast(/** @type {Error} */ (err).message);
  }
  for (const b of buttons) b.removeAttribute("aria-disabled");
}

byId("approve").onclick = () => decide("approved");
byId("decline").onclick = () => decide("declined");
byId("form").addEventListener("submit", (/** @type {Event} */ e) => e.preventDefault()); // Enter in a field must not decide
byId("form").addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) decide("approved");
});
onState(show);
