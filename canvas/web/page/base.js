// @ts-check

/** The address of the page: "/" of its origin, or the prefix under which a proxy has it. */
export const BASE = new URL(".", import.meta.url);
