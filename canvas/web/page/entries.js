// @ts-check
// The open canvases as the tabs and the list show them.
import { progressText } from "./badges.js";

/**
 * @param {import("./layout.js").Layout} layout @param {(id: string) => import("./card.js").Card | undefined} cardOf
 * @param {Set<string>} fresh canvases that were not seen yet @param {(channel: string) => string} waits why a canvas waits for the person
 * @returns {import("./switcher.js").Entry[]} in order
 */
export function entriesOf(layout, cardOf, fresh, waits) {
  const { visible, current } = layout;
  return layout.all.flatMap((id) => {
    const card = cardOf(id);
    if (!card) return [];
    return {
      id, title: card.title, status: card.state?.status ?? "", kind: card.ref.canvasId ?? "",
      current: id === current, visible: visible.includes(id), pinned: layout.isPinned(id), stale: card.stale, fresh: fresh.has(id),
      why: waits(card.ref.channel), badge: waits(card.ref.channel) ? "Waits for you" : progressText(card.state),
    };
  });
}
