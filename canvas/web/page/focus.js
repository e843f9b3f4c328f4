// @ts-check
// Which canvas a person uses: the focus in a frame fires no event in this document but blur,
// and none if it moves on to another frame, which keyboard.js notices.
import { guardKeyboard } from "./keyboard.js";

/** @typedef {import("./card.js").Card} Card */

/** @param {() => Iterable<Card>} cards @param {(id: string) => void} used a person uses the canvas of an instance */
export function followFocus(cards, used) {
  const around = (/** @type {Element} */ inside) => [...cards()].find((card) => card.element.contains(inside));

  function note() {
    const { activeElement } = document;
    const card = activeElement && around(activeElement);
    if (!card) return;
    if (activeElement.localName === "iframe") card.frame.focused();
    used(card.ref.instanceId);
  }

  guardKeyboard((frame) => around(frame)?.frame.stop(), (shield) => around(shield)?.frame.focus(), (frame) => around(frame)?.frame.refocus(), note);
  for (const type of ["blur", "focusin"]) addEventListener(type, note);
}
