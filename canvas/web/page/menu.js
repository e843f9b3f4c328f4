// @ts-check
// The one menu of the page. It opens below a button, takes the arrow keys, and closes on
// Escape, on a choice, and when the focus goes elsewhere, also into a canvas.
import { icon } from "./icons.js";

/**
 * One line of a menu. pressed makes it a line that is on or off; apart begins a group.
 * @typedef {{ text: string, icon: import("./icons.js").Icon, run: () => void, disabled?: boolean, pressed?: boolean, apart?: boolean }} Item
 */

/** @type {HTMLElement | undefined} */ let menu;
/** @type {HTMLElement | undefined} The button below which it is open */ let anchor;

/** Opens the menu below a button, or closes it if it is open there. @param {HTMLElement} button @param {Item[]} items */
export function openMenu(button, items) {
  const again = anchor === button;
  closeMenu();
  if (again) return;
  anchor = button;
  menu = document.createElement("div");
  menu.className = "menu";
  menu.setAttribute("role", "menu");
  menu.append(...items.map(line));
  menu.addEventListener("keydown", onKey);
  menu.addEventListener("focusout", (e) => { if (!menu?.contains(/** @type {Node | null} */ (e.relatedTarget)) && document.activeElement !== document.body) closeMenu(false); });
  document.body.append(menu);
  place(menu, button);
  button.setAttribute("aria-expanded", "true");
  /** @type {HTMLElement | null} */ (menu.querySelector("button"))?.focus();
}

/** Closes the menu. @param {boolean} [back] whether its button gets the focus @returns {boolean} whether one was open */
export function closeMenu(back = true) {
  if (!menu) return false;
  const [old, button] = [menu, anchor];
  menu = anchor = undefined;
  button?.setAttribute("aria-expanded", "false");
  if (back) button?.focus();
  old.remove();
  return true;
}

addEventListener("pointerdown", (e) => {
  if (menu && !menu.contains(/** @type {Node} */ (e.target)) && !anchor?.contains(/** @type {Node} */ (e.target))) closeMenu(false);
}, true);
addEventListener("blur", () => closeMenu(false)); // the focus went into a canvas
addEventListener("resize", () => closeMenu(false));

/** @param {Item} item */
function line({ text, icon: name, run, disabled = false, pressed, apart = false }) {
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("role", pressed === undefined ? "menuitem" : "menuitemcheckbox");
  if (pressed !== undefined) button.setAttribute("aria-checked", String(pressed));
  button.setAttribute("aria-disabled", String(disabled));
  button.tabIndex = -1;
  button.classList.toggle("apart", apart);
  button.append(icon(name), Object.assign(document.createElement("span"), { textContent: text }));
  button.addEventListener("click", () => {
    if (disabled) return;
    closeMenu();
    run();
  });
  return button;
}

/** @param {KeyboardEvent} e */
function onKey(e) {
  const lines = /** @type {HTMLElement[]} */ ([...(menu?.children ?? [])]);
  const at = lines.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  /** @type {Record<string, number>} */
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
  if (e.key === "Tab") closeMenu();
  if (!(e.key in next)) return;
  e.preventDefault();
  lines.at(next[e.key] % lines.length)?.focus();
}

/** Puts the menu below the button, inside the window. @param {HTMLElement} box @param {HTMLElement} button */
function place(box, button) {
  const at = button.getBoundingClientRect(), edge = 8;
  const left = Math.max(edge, Math.min(at.right - box.offsetWidth, innerWidth - box.offsetWidth - edge));
  const top = at.bottom + box.offsetHeight + edge < innerHeight ? at.bottom : Math.max(edge, at.top - box.offsetHeight);
  box.style.left = `${left}px`;
  box.style.top = `${top}px`;
}
