// @ts-check
// The origins that the host's operator lets canvases load from (--allow-origin). The name of
// a content host begins with the label of a list, and this page's server gives hosts of that
// name the policies. What a canvas says does not choose a label: the host does, in the state.

const meta = /** @type {HTMLMetaElement | null} */ (document.querySelector("meta[name=allowed]"));
/** @type {Map<string, string[]>} The origins by label */
const LISTS = new Map(Object.entries(JSON.parse(meta?.content || "{}")));
export const NONE = "c"; // the label without a list

/** The label of a canvas's content host. @param {any} state */
export function labelOf(state) {
  const label = state?._meta?.["x-ahp-canvas/net"];
  return LISTS.has(label) ? label : NONE;
}

/** What the card says about other origins, "" if nothing. @param {any} state @param {boolean} single whether the canvas is shown in single-document mode */
export function allowedText(state, single) {
  const label = state?._meta?.["x-ahp-canvas/net"];
  if (label === undefined) return "";
  const origins = LISTS.get(label);
  if (single || !origins) return "It may load from other origins at its host, but not here.";
  return `This canvas may load from ${origins.map((o) => o.replace(/^https:\/\//, "")).join(", ")}.`;
}
