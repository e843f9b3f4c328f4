// @ts-check
// The first script in each document of a folder with an actions.json: it receives the
// page's declared signals, and the items of a runtime inside the page, before the module
// runtime.js can.
"use strict";
{
  const given = /** @type {any} */ (null); // filled in by the provider
  const KEY = Symbol.for("ahp.actions");
  const MAX_HELD = 50; // events before the module runs
  const MAX_DETAIL = 32 * 1024; // characters of an event's detail as JSON

  /** @typedef {{ name: string, event: string }} Signal */
  /** @typedef {{ hash: string, signals: Signal[], states: any[], attachments: any[], checks: any[] }} Config */
  /** @typedef {{ kind: "signal", event: string, detail: any } | { kind: "item", item: any }} Heard */

  const listening = new Set();
  /** @type {Heard[]} */
  const held = [];

  const early = {
    /** The part of actions.json that a page needs. */
    config: /** @type {Config} */ (given.config),
    /** The document's path in the canvas. */
    path: /** @type {string} */ (given.path),
    /** Takes what was held, and then each signal and item. @type {((heard: Heard) => void) | undefined} */
    receive: undefined,
    held,
    /** Listens to the events of the signals, each once. @param {Signal[]} signals */
    listen(signals) {
      for (const { event } of signals) {
        if (listening.has(event)) continue;
        listening.add(event);
        // Capturing on the window, so that events that do not bubble are received too.
        window.addEventListener(event, (e) => keep({ kind: "signal", event, detail: copy(e) }), true);
      }
    },
  };

  /** @param {Heard} heard */
  function keep(heard) {
    if (early.receive) early.receive(heard);
    else if (held.length < MAX_HELD) held.push(heard);
  }

  /** The event's detail as it is now; undefined if it is not JSON. @param {any} event */
  function copy(event) {
    try {
      const text = JSON.stringify(event.detail ?? {});
      return text.length <= MAX_DETAIL ? JSON.parse(text) : undefined;
    } catch {
      return undefined;
    }
  }

  if (!Reflect.has(globalThis, KEY)) {
    Object.defineProperty(globalThis, KEY, { value: early });
    early.listen(early.config.signals);
    window.addEventListener("message", ({ source, data }) => {
      if (source === window && data?.source === "ajbm" && data.direction === "page-to-extension" && typeof data.item?.type === "string") keep({ kind: "item", item: data.item });
    });
  }
}
