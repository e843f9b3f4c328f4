// @ts-check
// Messages of http/1 and ws/1 go to the connections of their card, not to its page.

/**
 * Passes an entry to the connection of its card, and reports whether it is for one.
 * @param {import("./card.js").Card | undefined} card @param {import("./ahp.js").Envelope} e @param {boolean} own whether this page sent it
 */
export function bridged(card, e, own) {
  const protocol = e.action.type === "canvas/message" ? e.action.payload?.["x-ahp"] : undefined;
  if (protocol !== "http/1" && protocol !== "ws/1") return false;
  const conn = protocol === "ws/1" ? card?.frame.conn.sockets : card?.frame.conn.http;
  if (!own) conn?.receive(e.action.payload);
  else if (e.rejectionReason !== undefined) conn?.refused(e.action.payload, e.rejectionReason);
  return true;
}
