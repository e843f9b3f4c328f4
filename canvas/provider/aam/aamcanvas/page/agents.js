// @ts-check
// The page of aam-agents: the host's owner decides which agents of other people use it.
// Vendors are claims of strangers, so everything is shown as text.
import { announce, byId, make, toast, write } from "./ui.js";
import { connect, request as ask, requestSealed } from "./provider.js";

/**
 * @typedef {{ id: string, vendor: string, actions: string[], filed: string }} Request
 * @typedef {{ id: string, vendor: string, actions: string[], per_call?: string, per_day: number, used_today: number, expires: string }} Agent
 * @typedef {{ id: string, ts: string, action_id: string, agent_vendor: string, result: string, status: number, payment?: { scheme: string, amount?: string } }} Row
 * @typedef {{ name: string, origin: string, pin: boolean, facilitator?: boolean, actions: { id: string, price: string }[], requests: Request[], agents: Agent[], rows: Row[], payments: Record<string, number> }} State
 */

let shown = false;
/** The cards of requests, by number: a new state must not take away what is being typed. @type {Map<string, HTMLElement>} */
const cards = new Map();

/** @param {State} state @param {Request} request */
function requestCard(state, request) {
  const id = `r${request.id}`;
  const boxes = state.actions.map((a) => make("input", { type: "checkbox", value: a.id, checked: request.actions.includes(a.id) }));
  const actions = make("fieldset", {}, make("legend", {}, make("strong", {}, request.vendor), " says that it asks. Let it run:"),
    ...boxes.map((box, n) => make("label", {}, box, make("code", {}, state.actions[n].id), state.actions[n].price === "free" ? "" : make("span", { className: "quiet" }, state.actions[n].price))));
  const field = (/** @type {string} */ label, /** @type {Record<string, any>} */ props) => {
    const input = make("input", props);
    return { input, el: make("label", {}, label, input) };
  };
  const perDay = field("Calls a day", { type: "number", min: 1, max: 100000, value: 5, required: true, name: "perDay" });
  const days = field("For days", { type: "number", min: 1, max: 366, value: 30, required: true, name: "days" });
  const perCall = field("Most a call, USDC", { type: "text", inputMode: "decimal", pattern: "[0-9]+(\\.[0-9]{1,6})?", placeholder: "no limit", name: "perCall" });
  perCall.el.hidden = state.actions.every((a) => a.price === "free");
  const pin = field("Your PIN", { type: "password", autocomplete: "off", required: true, name: "pin" });
  const problem = make("p", { className: "error", role: "alert" });
  const letIn = make("button", { type: "submit", className: "main" }, "Let in"), refuse = make("button", { type: "button" }, "Refuse");
  const form = make("form", { noValidate: true, className: "request" }, make("p", {}, make("span", { className: "quiet" }, "Request "), make("span", { className: "number" }, request.id)),
    make("p", { className: "quiet" }, "Compare this number with the one on the agent's page. If they differ, refuse."),
    actions, make("div", { className: "fields" }, perDay.el, days.el, perCall.el, pin.el), problem, make("div", { className: "buttons" }, refuse, letIn));
  form.setAttribute("aria-label", `Request ${request.id} of ${request.vendor}`);
  const card = make("li", { id }, form);
  /** @param {Error} err */
  const failed = (err) => { write(problem, err.message); announce(err.message); };
  refuse.onclick = () => ask({ aam: "refuse", request: request.id }).catch(failed);
  form.onsubmit = async (/** @type {Event} */ e) => {
    e.preventDefault();
    const chosen = boxes.filter((b) => b.checked).map((b) => b.value);
    const m = { request: request.id, actions: chosen, perCall: perCall.input.value.trim(), perDay: Number(perDay.input.value), days: Number(days.input.value) };
    if (!chosen.length) return failed(new Error("Choose at least one action."));
    if (!form.checkValidity()) return failed(new Error(pin.input.value ? "Check the limits." : "Enter your PIN."));
    letIn.disabled = true;
    card.dataset.done = "1"; // the request can end before the code is here
    const secret = pin.input.value;
    pin.input.value = "";
    try {
      showCode(card, request, await grant(m, secret));
    } catch (err) {
      delete card.dataset.done;
      failed(/** @type {Error} */ (err));
      pin.input.focus();
    }
    letIn.disabled = false;
  };
  return card;
}

/**
 * Lets an agent in, and returns the code.
 * @param {{ request: string, actions: string[], perCall: string, perDay: number, days: number }} m @param {string} secret
 */
async function grant(m, secret) {
  const { perCall, ...rest } = m;
  const message = { aam: "grant", ...rest, ...(perCall ? { perCall } : {}) };
  return (await requestSealed(message, secret, "grant", m.request, m.actions.join(","), perCall, String(m.perDay), String(m.days))).code;
}

/** Shows the code once: this page alone has it. @param {HTMLElement} card @param {Request} request @param {string} code */
function showCode(card, request, code) {
  const done = make("button", { type: "button", onclick: () => { card.remove(); cards.delete(request.id); showEmpty(); } }, "Done");
  const box = make("div", { tabIndex: -1 }, make("p", {}, "Give this code to the agent of ", make("strong", {}, request.vendor), ":"), make("p", { className: "code" }, code),
    make("p", { className: "quiet" }, "It is good once, for 10 minutes, and is not shown again."));
  card.replaceChildren(box, make("div", { className: "buttons" }, done));
  box.focus();
  announce(`The code is ${code.split("").join(" ")}`);
}

/** @param {Agent} agent */
function agentCard(agent) {
  const revoke = make("button", { type: "button", "aria-label": `Revoke ${agent.vendor}` }, "Revoke");
  revoke.onclick = () => {
    revoke.disabled = true;
    ask({ aam: "revoke", id: agent.id }).then(() => announce(`${agent.vendor} is revoked.`), (err) => { revoke.disabled = false; toast(err.message); });
  };
  const most = agent.per_call ? `, at most ${agent.per_call} USDC a call` : "";
  return make("li", {}, make("div", {}, make("p", {}, make("strong", {}, agent.vendor), " ", make("code", {}, agent.actions.join(", "))),
    make("p", { className: "quiet" }, `${agent.used_today} of ${agent.per_day} calls today${most}, until ${new Date(agent.expires).toLocaleDateString()}`)), revoke);
}

/** @param {Row} row */
function rowItem(row) {
  const paid = row.payment?.amount ? `${Number(row.payment.amount) / 1e6} USDC signed` : row.payment ? "a payment was ignored" : "";
  return make("li", {}, make("time", { className: "quiet" }, new Date(row.ts).toLocaleString()), make("span", {}, row.agent_vendor || "no vendor"), make("code", {}, row.action_id),
    make("span", { className: row.result === "ok" ? "" : "bad" }, row.result === "unknown" ? "outcome not known" : row.result === "ok" ? "ok" : `${row.result} (${row.status})`), paid);
}

/** @param {Record<string, number>} payments */
function paymentsText(payments) {
  const one = (/** @type {number} */ n, /** @type {string} */ text) => (n ? `${n} ${n === 1 ? "payment is" : "payments are"} ${text}.` : "");
  return [one(payments.signed, "signed and not collected"), one(payments.unknown, "sent to be collected, with an unknown outcome"), one(payments.failed, "signed but could not be collected")].filter(Boolean).join(" ");
}

function showEmpty() {
  byId("no-requests").hidden = cards.size > 0;
}

/** @param {State} state */
function show(state) {
  write(byId("origin"), state.origin);
  const n = state.requests.length;
  write(byId("status"), n ? `${n === 1 ? "One agent waits" : `${n} agents wait`} for you` : "");
  const before = cards.size;
  for (const request of state.requests) {
    if (cards.has(request.id)) continue;
    const card = requestCard(state, request);
    cards.set(request.id, card);
    byId("requests").append(card);
  }
  for (const [id, card] of cards) {
    if (card.dataset.done || state.requests.some((r) => r.id === id)) continue;
    card.remove();
    cards.delete(id);
  }
  if (shown && cards.size > before) announce("An agent asks to be let in.");
  showEmpty();
  byId("agents").replaceChildren(...state.agents.map(agentCard));
  byId("no-agents").hidden = state.agents.length > 0;
  byId("rows").replaceChildren(...state.rows.map(rowItem));
  byId("no-rows").hidden = state.rows.length > 0;
  write(byId("payments"), paymentsText(state.payments));
  byId("payments").hidden = !byId("payments").textContent;
  byId("collect").hidden = !state.payments.signed || !state.facilitator;
  byId("message").hidden = state.pin;
  write(byId("message"), state.pin ? "" : "No PIN is set, so no agent can be let in. Run this at a terminal: ahp-canvas aam pin");
  shown = true;
  document.body.setAttribute("aria-busy", "false");
}

byId("collect").addEventListener("click", () => {
  const button = byId("collect");
  button.disabled = true;
  ask({ aam: "collect" }).then(({ collected: c }) => toast(`${c.collected} collected, ${c.failed} failed, ${c.unknown} with an unknown outcome.`), (err) => toast(err.message))
    .finally(() => { button.disabled = false; });
});

connect(show, (err) => write(byId("status"), `The host cannot be reached: ${err.message}`));
