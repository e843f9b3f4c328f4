// @ts-check
// Files that a navigation of a canvas gets instead of a document: the frame cannot save them,
// so the app page offers them to the person. The host serves it in front of frame.js.
"use strict";

/** The name in a Content-Disposition, or "". @param {string} header */
function ahpFileName(header) {
  const encoded = /filename\*\s*=\s*utf-8''([^;]+)/i.exec(header)?.[1];
  try {
    if (encoded) return decodeURIComponent(encoded);
  } catch {}
  return /filename\s*=\s*"?([^";]+)/i.exec(header)?.[1] ?? "";
}

/** Offers a file. @param {(message: any, transfer: Transferable[]) => void} post to the app page @param {Promise<{ blob?: Blob, name?: string }>} reading */
function ahpOffer(post, reading) {
  const { port1, port2 } = new MessageChannel();
  post({ t: "ask", ask: { kind: "download" } }, [port2]);
  reading.then((file) => port1.postMessage(file), () => port1.postMessage({}));
}

/** Reads a file that the host's listener has instead of a document. @param {string} path @returns {Promise<{ blob: Blob, name: string }>} */
async function ahpFetchFile(path) {
  const r = await fetch(path);
  return { blob: await r.blob(), name: ahpFileName(r.headers.get("content-disposition") ?? "") || (path.split(/[?#]/)[0].split("/").pop() ?? "") };
}
