// @ts-check
// The payloads of the canvas's channel, in A2UI's own shapes: parts of a message with
// metadata. The host passes on nothing that is not in them.

/** @typedef {{ surfaceId: string, version: string, model: any }} Model of a surface that syncs */

/** Limit of the models in one message, in bytes of JSON. */
const MAX_MODELS = 48 * 1024;

const MIME = { "v0.9": "application/json+a2ui", "v0.9.1": "application/a2ui+json" };

/** The ids by which agents name the basic catalog. */
const CATALOGS = [
  "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json",
  "https://a2ui.org/specification/v0_9/basic_catalog.json",
  "https://a2ui.org/catalogs/v1/basic.json",
];

const capabilities = { "v0.9": { supportedCatalogIds: CATALOGS } };

/** Adds the id of a catalog that this page draws. @param {string} id */
export const announceCatalog = (id) => void CATALOGS.push(id);

/** Requests a replay. */
export const hello = () => ({ parts: [], metadata: { a2uiClientCapabilities: capabilities } });

/**
 * The message with an action or an error of a surface, and the models of all surfaces
 * that sync. Models that are too large stay out: an error beside says so.
 * @param {string} version @param {{ action: any } | { error: any }} body @param {Model[]} models
 */
export function event(version, body, models) {
  const [metadata, lost] = envelope(version, models);
  const data = [{ version, ...body }, ...lost.map((error) => ({ version, error }))];
  return { parts: [{ kind: "data", metadata: { mimeType: /** @type {any} */ (MIME)[version] ?? MIME["v0.9"] }, data }], metadata };
}

/** The message with a text of the person. @param {string} text @param {Model[]} models */
export function said(text, models) {
  const version = models[0]?.version ?? "v0.9";
  const [metadata, lost] = envelope(version, models);
  const errors = lost.map((error) => ({ version, error }));
  const parts = errors.length ? [{ kind: "data", metadata: { mimeType: /** @type {any} */ (MIME)[version] }, data: errors }] : [];
  return { parts: [{ kind: "text", text }, ...parts], metadata };
}

/** The metadata of a message, and the errors that belong beside it. @param {string} version @param {Model[]} models @returns {[any, any[]]} */
function envelope(version, models) {
  /** @type {any} */
  const metadata = { a2uiClientCapabilities: capabilities };
  if (models.length === 0) return [metadata, []];
  const surfaces = Object.fromEntries(models.map((m) => [m.surfaceId, m.model ?? null]));
  const size = new TextEncoder().encode(JSON.stringify(surfaces)).length;
  if (size <= MAX_MODELS) {
    metadata.a2uiClientDataModel = { version, surfaces };
    return [metadata, []];
  }
  const [largest] = models.map((m) => ({ id: m.surfaceId, size: (JSON.stringify(m.model) ?? "").length })).sort((a, b) => b.size - a.size);
  return [metadata, [{ code: "DATA_MODEL_TOO_LARGE", surfaceId: largest.id, message: `what is entered has ${size} bytes, at most ${MAX_MODELS} can be sent with a message` }]];
}
