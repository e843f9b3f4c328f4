// @ts-check
// The canvas's own files, for a fetch of its page.

const MAX_FETCHES = 16;
let fetching = 0;

/**
 * Answers a fetch.
 * @param {any} m untrusted
 * @param {MessagePort} port
 * @param {((more: any) => Promise<any>) | undefined} read calls the read tool; undefined: no View is attached
 */
export async function serveFile({ method, path }, port, read) {
  /** @param {number} status @param {string} word */
  const refuse = (status, word) => port.postMessage({ t: "words", status, word });
  if (!read || method !== "GET" || typeof path !== "string" || !path.startsWith("/")) return refuse(501, "In a chat a canvas can only read its files.");
  if (fetching >= MAX_FETCHES) return refuse(429, "This canvas reads too many files at once.");
  fetching++;
  try {
    let text = "", parts = 1, type = "";
    for (let part = 0; part < parts; part++) {
      const answer = await read({ path, part, file: true });
      if (answer.kind !== "file") return refuse(404, answer.words);
      text += answer.text ?? "";
      ({ parts, type } = answer);
    }
    const body = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
    port.postMessage({ t: "whole", type, body }, [body]);
  } catch {
    refuse(503, "The canvas host does not answer.");
  } finally {
    fetching--;
  }
}
