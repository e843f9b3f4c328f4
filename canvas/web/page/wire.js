// @ts-check
// Parses the host's messages. Nearly all bytes of a busy connection are http/1
// data: base64, which JSON.parse would scan and copy. So a long data member is cut
// out before parsing and put back afterwards.

const MEMBER = ',"data":"';
const MIN_LENGTH = 2048; // characters of data below which this is not worth it
/** Random, so that no message contains it by chance. Not a UUID: over plain http a browser makes none. */
const PLACEHOLDER = crypto.getRandomValues(new Uint32Array(4)).join("-");

/** The same as JSON.parse. @param {string} text */
export function parse(text) {
  return (text.length >= MIN_LENGTH && parseLong(text)) || JSON.parse(text);
}

/** @param {string} text @returns {any} undefined if the message has no long data member in its usual place */
function parseLong(text) {
  const from = text.indexOf(MEMBER) + MEMBER.length;
  const to = text.indexOf('"', from);
  if (from < MEMBER.length || to - from < MIN_LENGTH) return undefined;
  const data = text.slice(from, to);
  // Base64 has no escapes; with one, the string might not end at that quote.
  if (data.includes("\\")) return undefined;
  const shell = JSON.parse(text.slice(0, from) + PLACEHOLDER + text.slice(to));
  const payload = shell?.params?.action?.payload;
  if (payload?.data !== PLACEHOLDER) return undefined;
  payload.data = data;
  return shell;
}
