// @ts-check
// One control for each type of field: it shows a value, reads it, says what is
// wrong with it and sends it when the person pauses.
import { make } from "./ui.js";

/** @typedef {import("./form.js").Field} Field */
/**
 * @typedef {object} Control
 * @property {Field} field
 * @property {HTMLElement} el
 * @property {() => any} value null where it is empty
 * @property {(value: any) => void} show another View's or the agent's value; what is being typed here stays
 * @property {() => string} problem in words, or ""
 * @property {(problem: string) => boolean} tell shows a problem, and says whether there is one
 * @property {(locked: boolean) => void} lock
 * @property {() => void} focus
 * @property {() => any} drop sends nothing any more, and returns what was not sent; undefined where all was
 * @property {(value: any) => void} take goes on with what another control did not send
 */

const PAUSE = 250; // ms without a key until what is typed is sent
const FEW = 5; // options that are shown side by side

/** What each type is made of: its inputs, and how they are read and written. */
/** @type {Record<string, (f: Field, id: string) => { inputs: any[], get: () => any, set: (v: any) => void, group?: boolean }>} */
const makers = {
  text: (f, id) => written(make("input", { type: "text", id, maxLength: 500 })),
  multiline: (f, id) => written(make("textarea", { id, maxLength: 10_000, rows: 4 })),
  date: (f, id) => written(make("input", { type: "date", id, max: "9999-12-31" })),
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
    if (options.length > FEW) {
      return written(make("select", { id }, make("option", { value: "" }, "Choose…"), ...options.map((o) => make("option", { value: o }, o))));
    }
    const offered = f.required ? options : [...options, ""]; // a choice can be taken back
    const inputs = offered.map((o, n) => make("input", { type: "radio", id: `${id}-${n}`, name: id, value: o }));
    return {
      inputs, group: true,
      get: () => inputs.find((i) => i.checked)?.value || null,
      set: (v) => { for (const i of inputs) i.checked = i.value === (v ?? ""); },
    };
  },
};

/** @param {any} input */
const written = (input) => ({
  inputs: [input],
  get: () => (input.value.trim() === "" ? null : input.value),
  set: (/** @type {any} */ v) => { if (input.value !== (v ?? "")) input.value = v ?? ""; },
});

/** @param {Field} field @param {string} id @param {(value: any) => void} send @param {() => void} typed @returns {Control} */
export function makeControl(field, id, send, typed) {
  const { inputs, get, set, group } = makers[field.type](field, `${id}-input`);
  const error = make("p", { className: "error", id: `${id}-error` });
  const el = layout(field, id, inputs, error, Boolean(group));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  let dirty = false; // typed here, and the field was not left since
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
    typed();
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
    tell(words) {
      error.textContent = words;
      for (const i of inputs) i.setAttribute("aria-invalid", String(words !== ""));
      return words !== "";
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
    take(value) {
      set(value);
      dirty = true;
      pause = setTimeout(flush, PAUSE);
    },
  };
}

/** @param {Field} f @param {any} input @param {any} value */
function problem(f, input, value) {
  if (f.type === "number" && input.validity.badInput) return "This is not a number.";
  if (f.type === "number" && value !== null && Math.abs(value) > 2 ** 53) return "This number is too large.";
  if (f.type === "date" && (input.validity.badInput || input.validity.rangeOverflow)) return "This is not a whole date.";
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
      make("p", { className: "label", id: `${id}-label` }, f.label, ...must),
      make("div", { className: "choices" }, ...inputs.map((i) => make("label", { className: "choice" }, i, i.value || "No answer"))), error);
  }
  if (f.type === "boolean") {
    return make("div", { className: "field", id }, make("label", { className: "tick" }, inputs[0], make("span", {}, f.label, ...must)), error);
  }
  return make("div", { className: "field", id, "data-type": f.type }, make("label", { htmlFor: inputs[0].id }, f.label, ...must), inputs[0], error);
}
