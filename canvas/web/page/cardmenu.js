// @ts-check
// The menu of a canvas.
import { copyLink, copyOf, saveCopy } from "./share.js";

/** @typedef {import("./card.js").Card} Card */
/** @typedef {import("./menu.js").Item} Item */

/**
 * @param {Card} card @param {import("./layout.js").Layout} layout @param {(id: string) => void} show
 * @param {import("./share.js").Sharing} sharing
 * @returns {Item[]}
 */
export function cardMenu(card, layout, show, sharing) {
  const id = card.ref.instanceId;
  const { visible } = layout, at = visible.indexOf(id), maximized = layout.maximized === id;
  return [
    ...(at < 0 ? [{ text: "Show", icon: /** @type {const} */ ("app"), run: () => show(id) }] : []),
    { text: maximized ? "Show the others again" : "Maximize", icon: maximized ? "restore" : "maximize", run: () => layout.maximize(id) },
    { text: "Show beside the others", icon: "beside", run: () => layout.beside(id), disabled: layout.isPane(id) },
    { text: "Move earlier", icon: "earlier", run: () => layout.move(id, -1), disabled: at <= 0 },
    { text: "Move later", icon: "later", run: () => layout.move(id, 1), disabled: at < 0 || at === visible.length - 1 },
    { text: "Pin in its place", icon: "pin", run: () => layout.pin(id), pressed: layout.isPinned(id) },
    { text: "Put away", icon: "away", run: () => layout.putAway(id), disabled: !layout.isPane(id) || visible.length < 2 },
    { text: "Private: agents cannot look", icon: "hidden", apart: true, run: () => card.togglePrivate(), pressed: card.private },
    ...(card.consent.names.length ? [{ text: "Withdraw what you allowed", icon: /** @type {const} */ ("withdraw"), run: () => card.consent.takeBack() }] : []),
    ...(card.frame.origin.keeps ? [{ text: "Clear what it stored here", icon: /** @type {const} */ ("clear"), run: () => card.frame.clearStored() }] : []),
    ...shareItems(card, sharing),
    { text: "Close", icon: "close", apart: true, run: () => card.requestClose() },
  ];
}

/** What a person takes from a canvas or gives to others. @param {Card} card @param {import("./share.js").Sharing} sharing @returns {Item[]} */
function shareItems(card, sharing) {
  const copy = copyOf(card.state);
  const link = (/** @type {"view" | "read"} */ role) => copyLink(sharing, card.ref.instanceId, role);
  return [
    { text: "Copy a link for someone", icon: /** @type {const} */ ("link"), apart: true, run: () => link("view") },
    { text: "Copy a link that only shows", icon: /** @type {const} */ ("link"), run: () => link("read") },
    ...(copy ? [{ text: "Save a copy…", icon: /** @type {const} */ ("save"), run: () => saveCopy(copy.name, card.frame.read(copy.path)) }] : []),
    ...(card.frame.printable ? [{ text: "Print", icon: /** @type {const} */ ("print"), run: () => card.frame.print() }] : []),
  ];
}
