// @ts-check
/// <reference lib="webworker" />
// The ports of a service worker to the app pages that show its canvas, one for each tab. The
// host serves it in front of sw.js, as one script.
"use strict";

/** @param {ServiceWorkerGlobalScope} sw */
function portsOfTabs(sw) {
  const { isOuterFrame, toOuterFrames } = documents({});
  const FIRST_PORT = 5_000; // ms to wait for a port
  const OTHER_PORTS = 200; // ms to wait for those of other tabs
  const WHOSE = 1_000; // ms for a document to say in which tab it is
  const MAX_DOCUMENTS = 256;

  /** @type {Map<string, MessagePort>} By the id of a tab's outer frame, the newest last */
  const ports = new Map();
  /** @type {Map<string, string>} The outer frames of documents and workers, by id */
  const frames = new Map();
  /** @type {Promise<void> | undefined} */ let connecting;
  /** @type {(() => void) | undefined} */ let connected;

  /** Takes the port of a tab. Those of the others stay. @param {string} frame @param {MessagePort} port @returns {MessagePort | undefined} the one that it replaces */
  function connect(frame, port) {
    const before = ports.get(frame);
    before?.close();
    ports.delete(frame);
    ports.set(frame, port);
    connected?.();
    return before;
  }

  /** Asks the outer frames for ports, because a restarted worker has lost its own. Concurrent requests share one call. */
  function askForPorts() {
    connecting ??= (async () => {
      const first = new Promise((resolve) => { connected = () => resolve(undefined); setTimeout(resolve, FIRST_PORT); });
      const asked = await toOuterFrames(sw, async () => ({ t: "port?" }));
      await first;
      if (ports.size < asked) await new Promise((resolve) => setTimeout(resolve, OTHER_PORTS));
      connecting = undefined;
    })();
    return connecting;
  }

  /** The port of the tab with a document. @param {string} client that requests @param {string} [resulting] the document or worker that the request makes @returns {Promise<MessagePort | undefined>} */
  async function portOf(client, resulting) {
    if (ports.size === 0) await askForPorts();
    if (ports.size > 1) for (const frame of ports.keys()) if (!(await sw.clients.get(frame))) ports.delete(frame);
    const newest = [...ports.keys()].at(-1) ?? "";
    const known = ports.size > 1 ? frames.get(client) ?? (await ask(client)) : newest;
    const frame = ports.has(known) ? known : newest; // the first request of a document names none
    for (const id of [client, resulting ?? ""]) if (id && (id === resulting || frame === known)) note(id, frame);
    return ports.get(frame);
  }

  /** @param {string} id @param {string} frame */
  function note(id, frame) {
    frames.delete(id);
    frames.set(id, frame);
    if (frames.size > MAX_DOCUMENTS) frames.delete(/** @type {string} */ (frames.keys().next().value));
  }

  /** Asks a document for its outer frame. @param {string} id @returns {Promise<string>} "" if it does not answer */
  async function ask(id) {
    const client = id ? await sw.clients.get(id) : undefined;
    if (!(client instanceof WindowClient)) return "";
    if (isOuterFrame(client)) return id;
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve) => {
      port1.onmessage = ({ data }) => resolve(String(data));
      setTimeout(resolve, WHOSE, "");
      client.postMessage({ t: "whose?" }, [port2]);
    });
  }

  /** The outer frame of a port. @param {MessagePort | undefined} port */
  const frameOf = (port) => [...ports].find(([, one]) => one === port)?.[0];

  return { connect, portOf, frameOf };
}
