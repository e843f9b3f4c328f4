// @ts-check
// Light, dark, or as the system has it; and what of it the canvases are told.
// app.css has the colours: they are read from there, so that they exist once.

const CHOICES = ["system", "light", "dark"];
const KEY = "theme";
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
} catch {} // this site may keep nothing

/** What a canvas gets of the theme. */
export function currentTheme() {
  const style = getComputedStyle(root);
  return {
    mode: root.dataset.colorMode,
    locale: navigator.language,
    tokens: Object.fromEntries(TOKENS.map((name) => [name, style.getPropertyValue(name).trim()])),
  };
}

/** Wires the button, and calls changed whenever the theme is another one. @param {HTMLButtonElement} button @param {() => void} changed */
export function startTheme(button, changed) {
  const apply = () => {
    root.dataset.colorMode = chosen === "system" ? (systemDark.matches ? "dark" : "light") : chosen;
    button.textContent = `Theme: ${chosen}`;
    changed();
  };
  button.addEventListener("click", () => {
    chosen = CHOICES[(CHOICES.indexOf(chosen) + 1) % CHOICES.length];
    apply();
    try {
      localStorage.setItem(KEY, chosen);
    } catch {} // full, or not allowed: it is so until the page is left
  });
  systemDark.addEventListener("change", apply);
  addEventListener("languagechange", changed);
  apply();
}
