// @ts-check
// The parts of the page around the canvases: connection, banner, registry,
// notices and the empty state.

/** @template {HTMLElement} T @param {string} id @returns {T} */
export const byId = (id) => /** @type {T} */ (document.getElementById(id));

/** @param {string} state @param {string} word */
export function showConnection(state, word) {
  const pill = byId("connection");
  pill.dataset.state = state;
  pill.textContent = word;
}

/** A message about the whole page. @typedef {{ title: string, text: string, action?: [string, () => void] }} Word */

/** Shows a message above the canvases. @param {Word | undefined} word */
export const showBanner = (word) => fill(byId("banner"), word);

/** Shows a message in place of the canvases. @param {Word | undefined} word */
export const showEmpty = (word) => fill(byId("empty"), word);

/** Returns a function that has fn called once for all its calls of this moment. @param {() => void} fn @returns {() => void} */
export function soon(fn) {
  let awaited = false;
  return () => {
    if (!awaited) queueMicrotask(() => { awaited = false; fn(); });
    awaited = true;
  };
}

/** Sets a text only if it changed: a screen reader announces each assignment. @param {HTMLElement} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Updates the existing elements: replacing them on each tick of the countdown would take the focus off the button. @param {HTMLElement} box @param {Word | undefined} word */
function fill(box, word) {
  const left = (!word || !word.action) && box.contains(document.activeElement);
  box.hidden = !word;
  if (left) byId("canvases").focus(); // the focused button is hidden
  if (!word) return;
  const [title, text, button] = /** @type {HTMLElement[]} */ ([...box.children]); // more may follow
  setText(title, word.title);
  setText(text, word.text);
  button.hidden = !word.action;
  if (!word.action) return;
  button.textContent = word.action[0];
  button.onclick = word.action[1];
}

/** Shows what to give an agent, if nothing is open. @param {boolean} shown */
export function showNextStep(shown) {
  const box = byId("next-step");
  box.hidden = !shown;
  if (!shown || box.dataset.ready) return;
  box.dataset.ready = "true";
  byId("copy-line").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(byId("agent-line").innerText);
      notice("Copied. Paste it into your agent.");
    } catch {
      getSelection()?.selectAllChildren(byId("agent-line")); // not allowed here: the person copies the selection
      notice("The line is selected: copy it with Ctrl+C.");
    }
  });
}

/** Shows a sentence for six seconds, or until it is pressed. @param {string} text */
export function notice(text) {
  const p = document.createElement("p");
  p.textContent = text;
  p.title = "Dismiss";
  p.addEventListener("click", () => p.remove());
  byId("notices").append(p);
  setTimeout(() => p.remove(), 6_000);
}

/** Makes a link that moves the focus without a change of the fragment, which holds host and session. @param {HTMLElement} link @param {HTMLElement} to */
export function skipLink(link, to) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    to.focus();
  });
}
