// @ts-check
// The catalogs of the host's program beside the basic one. The host replaces this file if
// there are any.

/** @type {((kit: Record<string, any>) => import("./renderer.js").OwnCatalog)[]} */
export const catalogs = [];
