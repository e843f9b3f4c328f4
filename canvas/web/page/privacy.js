// @ts-check
// Hides a canvas from agents that look.
import { notice } from "./ui.js";

/**
 * Hides a canvas from agents, or shows it again. It says so if that fails.
 * @param {(method: string, params: any) => Promise<any>} request @param {import("./card.js").Card} card @param {boolean} isPrivate
 */
export async function setPrivate(request, card, isPrivate) {
  try {
    await request("x-ahp-canvas/setPrivate", { channel: card.ref.channel, isPrivate });
  } catch (err) {
    notice(`“${card.title}” was not made ${isPrivate ? "private" : "visible to agents"}: ${/** @type {Error} */ (err).message}`);
  }
}
