// @ts-check
// The page that worker.js shows while the host is unreachable: it asks for the page, less
// often the longer the host is silent, and loads it when there is an answer. The fragment
// stays in the address, so that the page finds its canvas, and its token if it was opened
// by a link.
"use strict";
(() => {
  const FIRST = 1_000, LONGEST = 15_000; // ms between two tries
  const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
  const onThisMachine = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);
  let pause = FIRST, timer = 0, asking = false;

  try {
    const theme = localStorage.getItem("theme"); // theme.js
    if (theme === "light" || theme === "dark") document.documentElement.dataset.colorMode = theme;
  } catch {} // storage is not allowed

  function describe() {
    const offline = !navigator.onLine && !onThisMachine;
    byId("title").textContent = offline ? "This device is offline." : "The host cannot be reached.";
    byId("next").textContent = offline ? "The page opens as soon as the device is online and the host answers. You can leave it open." : "The page opens as soon as the host answers. You can leave it open.";
    byId("help").hidden = offline;
  }

  async function ask() {
    clearTimeout(timer);
    if (asking) return;
    asking = true;
    byId("try").setAttribute("aria-disabled", "true");
    try {
      const answer = await fetch("./", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(LONGEST) });
      if (answer.ok) return location.reload();
    } catch {} // the host is still unreachable
    asking = false;
    byId("try").removeAttribute("aria-disabled");
    timer = setTimeout(ask, pause);
    pause = Math.min(LONGEST, pause * 1.5);
  }

  function soon() {
    describe();
    pause = FIRST;
    void ask();
  }

  byId("try").addEventListener("click", soon);
  addEventListener("online", soon);
  addEventListener("offline", describe);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) soon(); });
  soon();
})();
