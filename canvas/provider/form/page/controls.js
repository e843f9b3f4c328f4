// @ts-check
// The controls of fields, one per type of field: a control shows a value, checks it,
// and sends it when the person pauses.
import { make } from "./ui.js";

/** @typedef {import("./form.js").Field} Field */
/**
 * @typedef {object} Control
 * @property {Field} field
 * @property {HTMLElement} el
 * @property {() => any} value null if it is empty
 * @property {(value: any) => void} show shows a received value, unless the person is typing here
 * @property {() => string} problem for the person, or ""
 * @property {(problem: string) => boolean} showProblem returns whether there is one
 * @property {(locked: boolean) => void} lock
 * @property {() => void} focus
 * @property {() => any} drop stops sending, and returns the value that was not sent; undefined if all was
 * @property {(value: any) => void} resume continues with a value that another control did not send
 */

const PAUSE = 250; // ms without input until the value is sent
const MAX_RADIOS = 5; // options of a choice that are shown as radio buttons

/** The inputs of each type of field, and how they are read and written. @type {Record<string, (f: Field, id: string) => { inputs: any[], get: () => any, set: (v: any) => void, group?: boolean }>} */
const makers = {
  text: (f, id) => textual(make("input", { type: "text", id, maxLength: 500, dir: "auto" })),
  multiline: (f, id) => textual(make("textarea", { id, maxLength: 10_000, rows: 4, dir: "auto" })),
  date: (f, id) => textual(make("input", { type: "date", id, max: "9999-12-31" })),
  number(f, id) {
    const input = make("input", { type: "number", id, step: "any" });
    return { inputs: [input], get: () => (input.value === "" ? null : Number(input.value)), set: (v) => { input.value = v ?? ""; } };
  },
  boolean(f, id) {
    const input = make("input", { type: "checkbox", id });
    return { inputs: [input], get: () => input.checked, set: (v) => { input.checked = v === true; } };
  },
  choice(f, id) {
    const options = f.options ?? [];
    if (options.length > MAX_RADIOS) {
      return textual(make("select", { id, dir: "auto" }, make("option", { value: "" }, "Choose…"), ...options.map((o) => make("option", { value: o }, o))));
    }
    const offered = f.required ? options : [...options, ""]; // "" is no answer
    const inputs = offered.map((o, n) => make("input", { type: "radio", id: `${id}-${n}`, name: id, value: o }));
    return {
      inputs, group: true,
      get: () => inputs.find((i) => i.checked)?.value || null,
      set: (v) => { for (const i of inputs) i.checked = i.value === (v ?? ""); },
    };
  },
};

/** The functions of an input with a text value. @param {any} input */
const textual = (input) => ({
  inputs: [input],
  get: () => (input.value.trim() === "" ? null : input.value),
  set: (/** @type {any} */ v) => { if (input.value !== (v ?? "")) input.value = v ?? ""; },
});

/** @param {Field} field @param {string} id @param {(value: any) => void} send @param {() => void} onTyped @returns {Control} */
export function makeControl(field, id, send, onTyped) {
  const { inputs, get, set, group } = makers[field.type](field, `${id}-input`);
  const error = make("p", { className: "error", id: `${id}-error` });
  const el = layout(field, id, inputs, error, Boolean(group));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  let dirty = false; // the person has typed here and not left the field since
  let latest = /** @type {any} */ (undefined);
  const flush = () => {
    if (pause === undefined) return;
    clearTimeout(pause);
    pause = undefined;
    send(get());
  };
  el.addEventListener("input", () => {
    dirty = true;
    clearTimeout(pause);
    pause = setTimeout(flush, PAUSE);
    onTyped();
  });
  el.addEventListener("change", flush);
  el.addEventListener("focusout", () => {
    if (pause === undefined) dirty = false;
    flush();
  });
  return {
    field, el, value: get,
    show(value) {
      latest = value;
      if (dirty && el.contains(document.activeElement)) return;
      dirty = false;
      set(latest);
    },
    problem: () => problem(field, inputs[0], get()),
    showProblem(text) {
      error.textContent = text;
      for (const i of inputs) i.setAttribute("aria-invalid", String(text !== ""));
      return text !== "";
    },
    lock(locked) {
      if (locked) {
        clearTimeout(pause);
        pause = undefined;
        dirty = false;
        set(latest);
      }
      for (const i of inputs) {
        if (i.matches("textarea, [type=text], [type=number], [type=date]")) i.readOnly = locked;
        else i.disabled = locked;
      }
    },
    focus: () => (inputs.find((i) => i.checked) ?? inputs[0]).focus(),
    drop() {
      const unsent = pause !== undefined;
      clearTimeout(pause);
      pause = undefined;
      return unsent ? get() : undefined;
    },
    resume(value) {
      set(value);
      dirty = true;
      pause = setTimeout(flush, PAUSE);
    },
  };
}

/** Returns what prevents an approval. @param {Field} f @param {any} input @param {any} value */
function problem(f, input, value) {
  if (f.type === "number" && input.validity.badInput) return "This is not a number.";
  if (f.type === "number" && value !== null && Math.abs(value) > 2 ** 53) return "This number is too large.";
  if (f.type === "date" && (input.validity.badInput || input.validity.rangeOverflow)) return "This is not a complete date.";
  if (!f.required) return "";
  if (f.type === "boolean") return value ? "" : "Tick this to approve.";
  if (value !== null) return "";
  return f.type === "choice" ? "Choose one." : "Fill this in.";
}

/** @param {Field} f @param {string} id @param {any[]} inputs @param {HTMLElement} error @param {boolean} group */
function layout(f, id, inputs, error, group) {
  const must = f.required ? [make("span", { className: "quiet must" }, "required")] : [];
  for (const i of inputs) {
    i.setAttribute("aria-describedby", error.id);
    if (f.required && !group) i.setAttribute("aria-required", "true");
  }
  if (group) {
    return make("div", { className: "field", id, role: "radiogroup", "aria-labelledby": `${id}-label`, "aria-required": String(Boolean(f.required)) },
      make("p", { className: "label", id: `${id}-label`, dir: "auto" }, f.label, ...must),
      make("div", { className: "choices" }, ...inputs.map((i) => make("label", { className: "choice", dir: "auto" }, i, i.value || "No answer"))), error);
  }
  if (f.type === "boolean") {
    return make("div", { className: "field", id }, make("label", { className: "tick", dir: "auto" }, inputs[0], make("span", {}, f.label, ...must)), error);
  }
  return make("div", { className: "field", id, "data-type": f.type }, make("label", { htmlFor: inputs[0].id, dir: "auto" }, f.label, ...must), inputs[0], error);
}
