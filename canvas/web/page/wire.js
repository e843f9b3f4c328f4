// @ts-check
// A message of the host as an object. Nearly all bytes of a busy connection are
// the data of http/1: base64 that JSON.parse would look at character by
// character, and copy. So it is cut out first, and put back as it is.

const MEMBER = ',"data":"';
const LONG = 2048; // characters from which it is worth it
const MARK = crypto.randomUUID(); // in its place; no host says it by chance

/** What JSON.parse makes of it. @param {string} text */
export function parse(text) {
  return (text.length >= LONG && cut(text)) || JSON.parse(text);
}

/** @param {string} text @returns {any} undefined where there is no such data at its place, or no JSON */
function cut(text) {
  const from = text.indexOf(MEMBER) + MEMBER.length;
  const to = text.indexOf('"', from);
  if (from < MEMBER.length || to - from < LONG) return undefined;
  const data = text.slice(from, to);
  // Base64 has no escapes; with one, the string would not have ended there.
  if (data.includes("\\")) return undefined;
  const shell = JSON.parse(text.slice(0, from) + MARK + text.slice(to));
  const payload = shell?.params?.action?.payload;
  if (payload?.data !== MARK) return undefined;
  payload.data = data;
  return shell;
}
