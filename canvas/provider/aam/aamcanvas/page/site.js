// @ts-check
// The page of aam-site: a person approves what an agent asks of a web site, signs in and
// pays. Everything that the site and the agent say is shown as text.
import { offerLink } from "/.ahp/canvas.js";
import { announce, byId, make, toast, write } from "./ui.js";
import { connect, request, requestSealed } from "./provider.js";

/**
 * @typedef {{ name: string, value: string }} Param
 * @typedef {{ id: string, digest: string, kind: "approval" | "payment", action: string, params: Param[], price: string, to?: string, network?: string, test?: boolean, issuer?: string, pin: boolean, until: string }} Ask
 * @typedef {{ name: string, host: string, site: string, about?: string, vendor: string, warnings: { path?: string, message: string }[], problem?: string,
 *   signedIn?: { credential?: boolean, actions?: string[], expires?: string }, canSign: boolean, link?: string, checkout?: string, pin: boolean,
 *   actions: { id: string, about?: string, price: string, auth: string }[], asks: Ask[], waiting: number, always: string[],
 *   budget?: { call: string, day: string, spent: string }, unknown: { action: string, amount: string, to: string, network: string, time: string }[],
 *   log: { call: string, time: string, action: string, outcome: string, status?: number, amount?: string }[] }} State
 */

/** @type {State | undefined} */
let state;
/** The cards of questions: a new state must not take away what is being typed. @type {Map<string, HTMLElement>} */
const cards = new Map();

/** @param {Ask} ask */
function question(ask) {
  const host = make("span", { className: "host" }, state?.host ?? "");
  if (ask.kind === "payment") return make("p", {}, "Pay ", make("span", { className: "amount" }, ask.price), " to ", make("code", {}, ask.to ?? ""), ` on ${ask.network}${ask.test ? ", a test network," : ""} for `, make("code", {}, ask.action), " at ", host, "?");
  const what = ask.params.length ? `${ask.params.map((p) => p.name).join(", ")} ` : "";
  return make("p", {}, "Send ", what, "to ", host, " for ", make("code", {}, ask.action), ask.price === "free" ? "?" : `? The site asks ${ask.price} for it; you are asked before anything is paid.`);
}

/** @param {Ask} ask */
function askCard(ask) {
  const list = make("dl");
  for (const p of ask.params) list.append(make("dt", {}, p.name), make("dd", {}, p.value));
  const pin = make("input", { type: "password", autocomplete: "off", name: "pin", required: true });
  const pinLabel = make("label", { hidden: !ask.pin }, "Your PIN ", pin);
  const always = make("input", { type: "checkbox" });
  const alwaysLabel = make("label", { className: "check", hidden: ask.kind === "payment" || Boolean(ask.issuer) }, always, `Always allow ${ask.action} at this site`);
  const problem = make("p", { className: "error", role: "alert" });
  const no = make("button", { type: "button" }, ask.kind === "payment" ? "Do not pay" : "Do not send");
  const yes = make("button", { type: "submit", className: "main" }, ask.kind === "payment" ? "Pay" : "Send");
  const form = make("form", { noValidate: true, className: "ask" }, question(ask), list,
    ask.issuer ? make("p", {}, `Your AAM ID credential of ${ask.issuer} would go to this site, which can then use it elsewhere.`) : "",
    ask.pin && !state?.pin ? make("p", { className: "error" }, "No PIN is set. Set one at a terminal: ahp-canvas aam pin") : "",
    alwaysLabel, pinLabel, problem, make("div", { className: "buttons" }, no, yes));
  form.setAttribute("aria-label", `${ask.kind === "payment" ? "Payment" : "Request"}: ${ask.action}`);
  /** @param {"approved" | "declined"} decision */
  const decide = async (decision) => {
    const message = { aam: "decide", ask: ask.id, digest: ask.digest, decision, ...(always.checked && decision === "approved" ? { always: true } : {}) };
    const secret = pin.value;
    pin.value = "";
    if (ask.pin && decision === "approved" && !secret) throw new Error("Enter your PIN.");
    yes.disabled = no.disabled = true;
    try {
      if (ask.pin && decision === "approved") await requestSealed(message, secret, "decide", ask.id, ask.digest, decision);
      else await request(message);
    } finally {
      yes.disabled = no.disabled = false;
    }
  };
  /** @param {Error} err */
  const failed = (err) => { write(problem, err.message); announce(err.message); if (ask.pin) pin.focus(); };
  no.onclick = () => decide("declined").catch(failed);
  form.onsubmit = (/** @type {Event} */ e) => { e.preventDefault(); decide("approved").catch(failed); };
  const card = make("li", {}, form);
  card.dataset.ask = ask.id;
  return card;
}

/** @param {State} s */
function drawAsks(s) {
  const list = byId("asks");
  const ids = new Set(s.asks.map((a) => a.id));
  for (const [id, card] of cards) {
    if (ids.has(id)) continue;
    card.remove();
    cards.delete(id);
  }
  for (const a of s.asks) {
    if (cards.has(a.id)) continue;
    const card = askCard(a);
    cards.set(a.id, card);
    list.append(card);
    announce(a.kind === "payment" ? `A payment of ${a.price} waits for you.` : `A request for ${a.action} waits for you.`);
  }
  const more = s.waiting - s.asks.length;
  byId("idle").hidden = s.asks.length > 0;
  write(byId("idle"), more > 0 ? `${more} more wait.` : "Nothing waits for you.");
}

/** @param {State} s */
function signedText(s) {
  if (!s.signedIn) return s.actions.some((a) => a.auth === "needed") ? "Not signed in" : "";
  const until = s.signedIn.expires ? ` until ${new Date(s.signedIn.expires).toLocaleString()}` : "";
  return `${s.signedIn.credential ? "Signed in with AAM ID" : "Signed in"}${until}`;
}

/** @param {State} s */
function draw(s) {
  byId("message").hidden = true;
  write(byId("name"), s.name || "Site");
  write(byId("host"), s.site);
  write(byId("signed"), signedText(s));
  byId("forget").hidden = !s.signedIn;
  byId("signin").hidden = Boolean(s.signedIn) || !s.canSign || Boolean(s.link);
  const warnings = [...(s.problem ? [{ message: s.problem }] : []), ...s.warnings];
  byId("warnings").hidden = warnings.length === 0;
  byId("warnings").replaceChildren(...warnings.map((w) => make("li", {}, w.message)));
  byId("lost").hidden = s.unknown.length === 0;
  byId("unknown").replaceChildren(...s.unknown.map((u) => make("li", {}, `${u.amount} USDC for ${u.action} to ${u.to} on ${u.network}, ${new Date(u.time).toLocaleString()}`)));
  drawAsks(s);
  byId("entry").hidden = !s.link;
  write(byId("address"), s.link ?? "");
  byId("open").hidden = !s.link;
  byId("checkout").hidden = !s.checkout;
  write(byId("checkout-address"), s.checkout ?? "");
  byId("actions").replaceChildren(...s.actions.map((a) => make("li", {}, make("code", {}, a.id), ` ${a.price}`, a.about ? make("p", { className: "quiet" }, a.about) : "")));
  byId("always").hidden = byId("ask-again").hidden = s.always.length === 0;
  write(byId("always"), `Sent without a question: ${s.always.join(", ")}`);
  byId("money").hidden = !s.budget && s.actions.every((a) => a.price === "free");
  write(byId("spent"), s.budget ? `Up to ${s.budget.call} USDC a call and ${s.budget.day} USDC a day are paid without a question; ${s.budget.spent} USDC today.` : "Each payment is asked for.");
  byId("log").replaceChildren(...s.log.map((r) => make("li", {}, make("time", { className: "quiet" }, new Date(r.time).toLocaleString()), make("code", {}, r.action), make("span", {}, r.outcome), r.status ? make("span", {}, String(r.status)) : "", r.amount ? make("span", {}, r.amount) : "")));
  document.body.setAttribute("aria-busy", "false");
}

/** @param {string} id @param {any} message @param {string} [done] */
const press = (id, message, done) => byId(id).addEventListener("click", () => {
  request(message).then(() => done && toast(done), (err) => toast(err.message));
});
press("forget", { aam: "forget" }, "The sign-in is forgotten here. Revoke it at the site too.");
press("signin", { aam: "signin" });
press("read", { aam: "read" });
press("ask-again", { aam: "ask" });
press("no-budget", { aam: "budget" }, "There is no budget now.");

byId("checkout-open").addEventListener("click", () => {
  if (state?.checkout) offerLink(state.checkout).catch((err) => toast(err.message));
});
byId("open").addEventListener("click", () => {
  if (state?.link) offerLink(state.link).catch((err) => toast(err.message));
});

/** @param {string} form @param {string} problem @param {() => Promise<any>} submit */
const onSubmit = (form, problem, submit) => byId(form).addEventListener("submit", (/** @type {Event} */ e) => {
  e.preventDefault();
  write(byId(problem), "");
  submit().catch((err) => { write(byId(problem), err.message); announce(err.message); });
});

/** Takes the text of a field, which is empty afterwards. @param {string} id @param {string} absent */
function takeValue(id, absent) {
  const field = byId(id), value = field.value.trim();
  field.value = "";
  if (!value) throw new Error(absent);
  return value;
}

onSubmit("code-form", "code-problem", async () => {
  await requestSealed({ aam: "code" }, takeValue("code", "Enter the code."), "code");
  toast("You are signed in.");
});
onSubmit("budget-form", "budget-problem", async () => {
  const call = byId("per-call").value.trim(), day = byId("per-day").value.trim();
  if (!call || !day) throw new Error("Enter both amounts.");
  await requestSealed({ aam: "budget", call, day }, takeValue("budget-pin", "Enter your PIN."), "budget", call, day);
  toast("The budget is set.");
});

connect((s) => {
  state = s;
  draw(s);
}, (err) => { byId("message").textContent = `The host cannot be reached: ${err.message}`; });
