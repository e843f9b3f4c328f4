// @ts-check
// Everything of the page that is not a canvas: connection, banner, registry,
// notices, the empty stage.

/** @template {HTMLElement} T @param {string} id @returns {T} */
export const byId = (id) => /** @type {T} */ (document.getElementById(id));

/** @param {string} state @param {string} word */
export function showConnection(state, word) {
  const pill = byId("connection");
  pill.dataset.state = state;
  pill.textContent = word;
}

/** Something to say about all of it. @typedef {{ title: string, text: string, action?: [string, () => void] }} Word */

/** Above the canvases. @param {Word | undefined} word */
export const showBanner = (word) => fill(byId("banner"), word);

/** In the place of the canvases. @param {Word | undefined} word */
export const showEmpty = (word) => fill(byId("empty"), word);

/** A text that is set again, though it is the same, is read out again. @param {HTMLElement} element @param {string} text */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Nothing is made anew: a countdown must not take the focus off its button. @param {HTMLElement} box @param {Word | undefined} word */
function fill(box, word) {
  const left = (!word || !word.action) && box.contains(document.activeElement);
  box.hidden = !word;
  if (left) byId("canvases").focus(); // the button that was pressed goes
  if (!word) return;
  const [title, text, button] = /** @type {HTMLElement[]} */ ([...box.children]);
  say(title, word.title);
  say(text, word.text);
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

/** A sentence that goes away by itself. @param {string} text */
export function notice(text) {
  const p = document.createElement("p");
  p.textContent = text;
  byId("notices").append(p);
  setTimeout(() => p.remove(), 6_000);
}
