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
  const [title, text, button] = /** @type {HTMLElement[]} */ ([...box.children]);
  setText(title, word.title);
  setText(text, word.text);
  button.hidden = !word.action;
  if (!word.action) return;
  button.textContent = word.action[0];
  button.onclick = word.action[1];
}

/** @param {any[]} canvases declarations */
export function showRegistry(canvases) {
  byId("registry-count").textContent = String(canvases.length);
  byId("declarations").replaceChildren(...canvases.map((c) => {
    const li = document.createElement("li");
    const name = document.createElement("strong");
    name.textContent = c.displayName;
    const from = document.createElement("span");
    from.className = "from";
    const actions = c.actions?.length ?? 0;
    from.textContent = [c.extensionName ?? c.extensionId, actions && `${actions} ${actions === 1 ? "action" : "actions"}`].filter(Boolean).join(" · ");
    const text = document.createElement("p");
    text.textContent = c.description;
    li.append(name, from, text);
    return li;
  }));
}

/** Shows a sentence for six seconds. @param {string} text */
export function notice(text) {
  const p = document.createElement("p");
  p.textContent = text;
  byId("notices").append(p);
  setTimeout(() => p.remove(), 6_000);
}
