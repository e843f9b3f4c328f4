// @ts-check
// What a canvas may use besides its frame, because the person allowed it on the card. All
// of it is off at first. A declaration says what its canvas asks for; a web app may ask when
// it uses it, as in a browser.

/** @type {Record<string, { text: string, allow?: string, sandbox?: string }>} The names of canvas/PROTOCOL.md section 4.11; allow and sandbox: what the frame needs */
const KNOWN = {
  camera: { text: "use the camera", allow: "camera" },
  microphone: { text: "use the microphone", allow: "microphone" },
  geolocation: { text: "see where you are", allow: "geolocation" },
  clipboardWrite: { text: "write to the clipboard", allow: "clipboard-write" },
  fullscreen: { text: "fill the screen", allow: "fullscreen" },
  pointerLock: { text: "lock the mouse pointer", sandbox: "allow-pointer-lock" },
};
const META = "x-ahp-canvas/permissions";
const KEY = "permissions"; // of what was allowed in this browser
const MAX_KEPT = 200; // canvases

/** @param {unknown} name */
export const isPermission = (name) => typeof name === "string" && Object.hasOwn(KNOWN, name);

/** For people. @param {string[]} names */
export const permissionText = (names) => names.map((name) => KNOWN[name].text).join(", ");

/** What a canvas asks for. @param {any} declaration */
export function declared(declaration) {
  const list = declaration?._meta?.[META];
  return Array.isArray(list) ? Object.keys(KNOWN).filter((name) => list.includes(name)) : [];
}

/** The values of allow and sandbox of a frame. @param {string[]} names */
export function frameRights(names) {
  /** @param {"allow" | "sandbox"} which */
  const of = (which) => names.flatMap((name) => KNOWN[name]?.[which] ?? []);
  return { allow: of("allow").join("; "), sandbox: of("sandbox").map((token) => ` ${token}`).join("") };
}

/** @returns {[string, string[]][]} by canvas, oldest first */
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return kept.filter((/** @type {any} */ one) => typeof one[0] === "string" && Array.isArray(one[1]));
  } catch {
    return []; // storage is not allowed, or another page wrote it
  }
}

/** What the person allowed a canvas. */
export class Permissions {
  #key;
  /** @type {string[]} */ names;

  /** @param {string} key of the canvas: its channel and its provider */
  constructor(key) {
    this.#key = key;
    this.names = (read().find(([key]) => key === this.#key)?.[1] ?? []).filter(isPermission);
  }

  /** @param {string[]} names all that the canvas may use from now on */
  set(names) {
    this.names = names;
    const others = read().filter(([key]) => key !== this.#key);
    if (names.length) others.push([this.#key, names]);
    try {
      localStorage.setItem(KEY, JSON.stringify(others.slice(-MAX_KEPT)));
    } catch {} // it holds for this page
  }
}
