// @ts-check
// The theme (light, dark, or the system's) and the tokens that canvases receive.
// The colors are defined in app.css and read from there.
import { LOOKING } from "./key.js";
import { setText } from "./ui.js";

const CHOICES = ["system", "light", "dark"];
const KEY = "theme"; // paint.js reads it too
const TOKENS = [
  "--background-color-default", "--text-color-default", "--text-color-muted", "--border-color-default",
  "--color-focus-outline", "--font-sans", "--font-mono",
];

const root = document.documentElement;
const systemDark = matchMedia("(prefers-color-scheme: dark)");

let chosen = "system";
try {
  const kept = localStorage.getItem(KEY) ?? "";
  if (CHOICES.includes(kept)) chosen = kept;
} catch {} // storage is not allowed

/** The theme as canvases receive it. */
export function currentTheme() {
  const style = getComputedStyle(root);
  return {
    mode: root.dataset.colorMode,
    titled: !LOOKING, // a picture has no header of the page
    locale: navigator.language,
    tokens: Object.fromEntries(TOKENS.map((name) => [name, style.getPropertyValue(name).trim()])),
  };
}

/** Applies the theme now: a browser reports that the system's changed with its next frame. */
export let applyTheme = () => {};

/** Sets up the button, and calls changed after each change of the theme. @param {HTMLButtonElement} button @param {() => void} changed */
export function startTheme(button, changed) {
  const apply = applyTheme = () => {
    root.dataset.colorMode = chosen === "system" ? (systemDark.matches ? "dark" : "light") : chosen;
    setText(/** @type {HTMLElement} */ (button.querySelector("span")), `Theme: ${chosen}`);
    button.title = `Theme: ${chosen}`;
    colorBars();
    changed();
  };
  button.addEventListener("click", () => {
    chosen = CHOICES[(CHOICES.indexOf(chosen) + 1) % CHOICES.length];
    apply();
    try {
      localStorage.setItem(KEY, chosen);
    } catch {} // storage is full or not allowed: the choice lasts until the page is closed
  });
  systemDark.addEventListener("change", apply);
  addEventListener("languagechange", changed);
  apply();
}

/** Gives the browser's own bars around the page its color, also if the system has another theme. */
function colorBars() {
  const { backgroundColor } = getComputedStyle(document.body);
  for (const meta of document.querySelectorAll("meta[name=theme-color]")) /** @type {HTMLMetaElement} */ (meta).content = backgroundColor;
}
