// @ts-check
// The first script in each document of a canvas that canvas/local shows without the
// app page. The theme is the system's, and canvas.js's messages go to the server that
// served the document.
"use strict";
{
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");

  /** The same tokens as in the app page's style sheet. @type {Record<"light" | "dark", Record<string, string>>} */
  const TOKENS = {
    light: { "--background-color-default": "#ffffff", "--text-color-default": "#1f2328", "--text-color-muted": "#59636e", "--border-color-default": "#d1d9e0", "--color-focus-outline": "#0969da" },
    dark: { "--background-color-default": "#0d1117", "--text-color-default": "#f0f6fc", "--text-color-muted": "#9198a1", "--border-color-default": "#3d444d", "--color-focus-outline": "#4493f8" },
  };
  const FONTS = { "--font-sans": "system-ui, sans-serif", "--font-mono": "ui-monospace, monospace" };

  const theme = () => {
    const mode = dark.matches ? "dark" : "light";
    return { mode, locale: navigator.language, tokens: { ...TOKENS[/** @type {"light" | "dark"} */ (mode)], ...FONTS } };
  };
  const paint = () => {
    const { mode, tokens } = theme();
    root.dataset.colorMode = mode;
    for (const [name, value] of Object.entries(tokens)) root.style.setProperty(name, value);
  };
  paint();
  dark.addEventListener("change", paint);

  let viewID = "";
  /** @type {(value?: unknown) => void} */
  let ready;
  /** Sends one message after the other, beginning when the server has sent the View's id. @type {Promise<unknown>} */
  let sending = new Promise((resolve) => { ready = resolve; });
  let lastSeq = 0;

  /** @param {any} view */
  function listen(view) {
    const events = new EventSource("/.ahp/events");
    events.onmessage = ({ data }) => {
      const m = JSON.parse(data);
      if (m.view !== undefined) {
        const again = viewID !== "";
        viewID = m.view;
        ready();
        if (again) view.reconnected();
      }
      if (m.state) view.update({ input: m.state.input });
      if (m.payload !== undefined) view.receive(m.payload);
    };
  }

  /** Called by canvas.js with its port. @param {MessagePort} port */
  /** @type {any} */ (globalThis).ahpOutside = async (/** @type {MessagePort} */ port) => {
    const { NO_LINKS, View } = await import("/.ahp/view.js");
    const view = new View((/** @type {any} */ action) => {
      const seq = ++lastSeq;
      sending = sending.then(async () => {
        const answer = await fetch(`/.ahp/message?view=${viewID}`, { method: "POST", body: JSON.stringify(action.payload) }).catch(() => undefined);
        view.echoed(seq, answer?.ok ? undefined : (await answer?.text()) ?? "the connection was lost");
      });
      return seq;
    }, () => location.reload(), { ...NO_LINKS, flooded: () => location.replace("/.ahp/stopped") });
    view.update({ theme: theme() });
    dark.addEventListener("change", () => view.update({ theme: theme() }));
    view.connect(port);
    listen(view);
  };
  document.currentScript?.remove();
}
