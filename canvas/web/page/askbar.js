// @ts-check
// The bar on a card in which the person answers what the canvas wants: one question at a
// time, outside the frame. What the canvas says in it is untrusted.
import { oneLine } from "./attention.js";
import { setText } from "./ui.js";

const HOLD = 700; // ms that the bar does not change after a question
const ARM = 500; // ms until its buttons work: the bar can appear under a pointer that is about to click
const MAX_WAITING = 4; // further questions are answered with no

/** @typedef {{ text: string, says?: string, value?: string, yes: string, no?: string, answer: (answer: string | boolean) => void }} Question says: the canvas's own text; value: of a text field; no: without it the bar has one button */

export class AskBar {
  #focus;
  /** @type {Question | undefined} */ #shown;
  /** @type {Question[]} */ #waiting = [];
  #skipped = 0;
  #holding = false;
  #timer = 0;
  #armed = false;
  #bar = document.createElement("form");
  #text = document.createElement("p");
  #says = document.createElement("p");
  #field = document.createElement("input");
  #yes = document.createElement("button");
  #no = document.createElement("button");

  /** @param {Element} after the element behind which the bar is @param {() => void} focus moves the focus when the bar disappears with it */
  constructor(after, focus) {
    this.#focus = focus;
    this.#bar.className = "asked";
    this.#bar.setAttribute("role", "status");
    this.#bar.hidden = true;
    this.#says.className = "says";
    this.#says.dir = "auto";
    this.#says.tabIndex = 0;
    this.#field.ariaLabel = "Answer";
    this.#no.type = "button";
    this.#bar.append(this.#text, this.#says, this.#field, this.#yes, this.#no);
    this.#bar.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#armed) this.#finish(true);
    });
    this.#no.addEventListener("click", () => this.#finish(false));
    after.after(this.#bar);
  }

  /** Asks the person, now or later. @param {Question} question @returns {boolean} false if too many wait */
  ask(question) {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#skipped++;
      this.#count();
      question.answer(false);
      return false;
    }
    this.#waiting.push(question);
    this.#next();
    return true;
  }

  /** Removes all questions, because the page that asked is gone. */
  withdraw() {
    this.#waiting = [];
    this.#skipped = 0;
    if (this.#shown) this.#hide();
    this.#shown = undefined;
  }

  #next() {
    if (this.#shown || this.#holding) return;
    this.#shown = this.#waiting.shift();
    if (!this.#shown) return;
    const { says = "", value, yes, no } = this.#shown;
    this.#count();
    setText(this.#says, says.split("\n").slice(0, 6).map(oneLine).join("\n"));
    this.#says.hidden = !says;
    this.#field.hidden = value === undefined;
    this.#field.value = oneLine(value ?? "");
    setText(this.#yes, yes);
    setText(this.#no, no ?? "");
    this.#no.hidden = no === undefined;
    this.#armed = false;
    this.#yes.ariaDisabled = "true";
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { this.#armed = true; this.#yes.ariaDisabled = "false"; }, ARM);
    this.#bar.hidden = false;
  }

  #count() {
    if (!this.#shown) return;
    setText(this.#text, this.#shown.text + (this.#skipped ? ` (${this.#skipped} more were not shown.)` : ""));
  }

  /** @param {boolean} yes */
  #finish(yes) {
    const shown = this.#shown;
    this.#shown = undefined;
    this.#skipped = 0;
    this.#hide();
    shown?.answer(yes && shown.value !== undefined ? this.#field.value : yes);
  }

  #hide() {
    clearTimeout(this.#timer);
    const focused = this.#bar.contains(document.activeElement);
    this.#bar.hidden = true;
    if (focused) this.#focus();
    this.#holding = true;
    setTimeout(() => { this.#holding = false; this.#next(); }, HOLD);
  }
}
