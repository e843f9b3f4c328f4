// The bridge: it defines maestro.send in an agent's page (aap/1.0), and runs before every
// script of the page. Where /.ahp/canvas.js exists, an interaction is sent until the host
// has stored it. Any other renderer gets AAP's message by postMessage.
(() => {
  "use strict";
  const MAX_QUEUE = 64;
  const ANSWER_TIMEOUT = 10_000, LATE = 10_000, MAX_DELAY = 8_000; // ms
  const CONNECT = Symbol.for("aap.connect");
  const version = document.currentScript?.getAttribute("data-aap-version"); // of this page

  let canvas; // canvas.js; null in another renderer, undefined until that is known
  const queue = []; // interactions that are not stored yet, the oldest first
  const mine = new Set(); // ids of the last records of this page
  let pumping = false, touched = false;

  // --- maestro

  function send(action, element, data) {
    try {
      const message = { type: "canvas:interaction", action, element: element || null, data: data || null };
      const text = JSON.stringify(message);
      if (JSON.stringify(message.data) === undefined || JSON.stringify(message.element) === undefined) throw new TypeError("only JSON can be sent");
      enqueue(JSON.parse(text));
    } catch (err) {
      console.error("maestro.send:", err);
    }
  }

  const pushListeners = new Set();
  let assignedListener;
  const onPush = (fn) => { pushListeners.add(fn); return () => { pushListeners.delete(fn); }; };
  const maestro = Object.defineProperties({}, {
    send: { enumerable: true, get: () => send, set() {} },
    onPush: { enumerable: true, get: () => onPush, set(fn) { assignedListener = fn; } },
  });
  // Configurable, so that a page can still declare its own "const maestro".
  Object.defineProperty(window, "maestro", { configurable: true, enumerable: true, get: () => maestro, set() {} });

  function push(data) {
    if (document.readyState === "loading") return addEventListener("DOMContentLoaded", () => push(data), { once: true });
    for (const fn of [...pushListeners, assignedListener]) {
      try { if (typeof fn === "function") fn(data); } catch (err) { console.error("maestro.onPush:", err); }
    }
    dispatchEvent(new MessageEvent("message", { data: { type: "canvas:push", data }, source: window }));
  }

  // --- delivery

  function enqueue(message) {
    if (canvas === null) return parent.postMessage(message, "*");
    if (queue.length >= MAX_QUEUE) return notice("full", "Too many actions wait for the agent, so this one was not sent.", [["Dismiss"]]);
    const ref = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
    const item = { message, ref, late: false, why: "this page is not connected yet", wake() {}, done: false };
    setTimeout(() => { item.late = true; showLate(); }, LATE);
    queue.push(item);
    if (canvas) pump();
  }

  Object.defineProperty(window, CONNECT, { configurable: true, value(given) {
    delete window[CONNECT];
    canvas = typeof given?.send === "function" && typeof given?.onMessage === "function" ? given : null;
    if (!canvas) return queue.splice(0).forEach(({ message }) => parent.postMessage(message, "*"));
    canvas.onMessage(receive);
    // The page may have changed since it was read. A View that may only watch cannot ask.
    if (version) Promise.resolve(canvas.send({ type: "aap:shown", version })).catch(() => {});
    pump();
  } });

  /** Sends the queue, one interaction at a time. */
  async function pump() {
    if (pumping) return;
    pumping = true;
    for (let item; (item = queue[0]);) {
      for (let delay = 1000; !item.done; delay = Math.min(MAX_DELAY, 2 * delay)) {
        if (await attempt(item)) break;
        showLate();
        await wait(item, delay);
      }
      if (queue[0] === item) queue.shift();
      item.done = true;
      showLate();
    }
    pumping = false;
  }

  /** Sends an interaction once, and returns whether it needs no further attempt. */
  async function attempt(item) {
    item.retry = false;
    const answered = wait(item, ANSWER_TIMEOUT);
    try {
      // Not awaited before the answer: that can come first.
      canvas.send({ ...item.message, ref: item.ref }).catch((err) => fail(item, err));
    } catch (err) {
      fail(item, err);
    }
    if (!(await answered)) item.why = "the host does not answer";
    return item.done;
  }

  function fail(item, err) {
    if (err instanceof RangeError || err instanceof TypeError) return refuse(item, err.message);
    item.why = err?.message ?? String(err);
    item.wake();
  }

  function refuse(item, why) {
    item.done = true;
    notice("refused", `The agent did not get your action: ${why}`, [["Dismiss"]]);
    item.wake();
  }

  /** Waits until an interaction is woken, or for a time; returns whether it was woken. */
  const wait = (item, ms) => new Promise((resolve) => {
    const timer = setTimeout(() => resolve(item.done), ms);
    item.wake = () => { clearTimeout(timer); resolve(true); };
  });

  function receive(m) {
    const item = typeof m?.ref === "string" ? queue.find((i) => i.ref === m.ref) : undefined;
    switch (m?.type) {
      case "aap:stored":
        if (!item) return;
        mine.add(m.id);
        if (mine.size > MAX_QUEUE) mine.delete(mine.values().next().value);
        item.done = true;
        return item.wake();
      case "aap:refused":
        if (!item) return;
        if (m.error !== "rate_limited" && m.error !== "unavailable") return refuse(item, m.message);
        item.why = m.message;
        return item.wake();
      case "aap:changed":
        if (m.version && m.version === version) return; // it was loaded after this change
        return changed(m.removed === true);
      case "aap:acknowledged":
        if (mine.has(m.id)) notice("acknowledged", m.note ? `The agent: ${m.note}` : "The agent has read your action.", [["Dismiss"]], "status");
        return;
      case "canvas:push": return push(m.data);
    }
  }

  function showLate() {
    const item = queue.find((i) => i.late && !i.done);
    if (!item) return notice("late");
    const what = item.message.element ?? item.message.action;
    notice("late", `“${String(what).slice(0, 80)}” has not reached the agent yet: ${item.why}`, [["Drop it", () => {
      item.done = true;
      queue.splice(queue.indexOf(item), 1);
      item.wake();
      showLate();
    }]]);
  }

  // --- the file has changed

  for (const type of ["input", "change"]) addEventListener(type, (event) => { touched ||= event.isTrusted; }, true);

  function changed(removed) {
    if (removed) return notice("page", "The agent has removed this page.", [["Dismiss"]]);
    if (!touched && !queue.length) return load();
    canvas.attention?.("The agent has changed this page");
    notice("page", "The agent has changed this page.", [["Load it", load]]);
  }

  function load() {
    canvas.send({ type: "aap:load" }).catch(() => notice("page", "The agent has changed this page.", [["Load it", load]]));
  }

  // --- notices, in a bar at the bottom that the page's styles do not reach

  const notices = new Map();
  let bar, root;

  /** Shows a notice in place of the one with its key; without text it removes that. */
  function notice(key, text, buttons = [], role = "alert") {
    const old = notices.get(key);
    if (!text) { notices.delete(key); old?.remove(); if (!notices.size) bar?.remove(); return; }
    if (old?.firstChild.data === text && bar.isConnected) return;
    const row = old ?? document.createElement("div");
    row.setAttribute("role", role);
    row.replaceChildren(text, ...buttons.map(([label, act]) => {
      const button = document.createElement("button");
      button.textContent = label;
      button.addEventListener("click", (event) => { if (event.isTrusted || !act) { notice(key); act?.(); } });
      return button;
    }));
    notices.set(key, row);
    if (!bar) {
      bar = document.createElement("aap-bar");
      root = bar.attachShadow({ mode: "closed" });
      const style = document.createElement("style");
      style.textContent = `:host { all: initial; position: fixed; inset: auto 0 0; z-index: 2147483647; font: 14px/1.4 system-ui, sans-serif; color-scheme: light dark }
        div { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; justify-content: space-between; padding: 8px 14px; background: light-dark(#1b1f24, #e7eaee); color: light-dark(#fff, #15181d); border-top: 1px solid; overflow-wrap: anywhere }
        button { font: inherit; font-weight: 600; color: inherit; background: none; border: 1px solid; border-radius: 6px; padding: 4px 12px; min-height: 32px; cursor: pointer }`;
      root.append(style);
    }
    if (!bar.isConnected) document.documentElement.append(bar);
    if (row.parentNode !== root) root.append(row);
  }

  // --- forms and links

  const form = HTMLFormElement.prototype;
  const { submit: nativeSubmit, requestSubmit: nativeRequestSubmit, reportValidity } = form;
  // Native methods are called on prototypes: a form's named inputs shadow its own.
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name);
  const closesDialog = (target, submitter) => (submitter?.getAttribute("formmethod") ?? attribute(target, "method"))?.toLowerCase() === "dialog";

  /** Prevents navigation by forms of a tree, after the page's own handlers. */
  function keepForms(tree) {
    tree.addEventListener("submit", (event) => {
      if (closesDialog(event.target, event.submitter)) return;
      for (const name of ["stopPropagation", "stopImmediatePropagation"]) {
        event[name] = () => { event.preventDefault(); Event.prototype[name].call(event); };
      }
    }, true);
    tree.addEventListener("submit", (event) => { if (!closesDialog(event.target, event.submitter)) event.preventDefault(); });
  }
  keepForms(window);
  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) {
    const tree = attachShadow.call(this, init);
    keepForms(tree);
    return tree;
  };
  form.submit = function submit() { if (closesDialog(this)) nativeSubmit.call(this); };

  addEventListener("click", (event) => {
    const link = event.composedPath().find((n) => n instanceof HTMLAnchorElement || n instanceof HTMLAreaElement);
    if (!canvas?.offerLink || !link || event.defaultPrevented || !/^\s*(https?:)?\/\//i.test(link.getAttribute("href") ?? "")) return;
    event.preventDefault();
    canvas.offerLink(link.href).catch((err) => notice("link", `This link cannot be opened here (${err.message}): ${link.href}`, [["Dismiss"]]));
  });

  // In an opaque document without allow-forms, a browser fires no submit event at all.
  // Single-document mode brings its own remedy, which replaces requestSubmit.
  if (origin === "null" && Function.prototype.toString.call(nativeRequestSubmit).includes("[native code]")) submitEvents();

  function submitEvents() {
    let blocked;
    const firing = new WeakSet();
    const isBlocked = () => {
      if (blocked !== undefined) return blocked;
      const probe = document.createElement("form");
      blocked = true;
      probe.addEventListener("submit", (event) => { blocked = false; event.stopPropagation(); });
      document.documentElement.append(probe);
      nativeRequestSubmit.call(probe);
      probe.remove();
      return blocked;
    };
    const isSubmit = (n) => (n instanceof HTMLButtonElement && n.type === "submit") || (n instanceof HTMLInputElement && /^(submit|image)$/.test(n.type));
    const fire = (target, submitter) => {
      if (firing.has(target) || !isBlocked()) return;
      firing.add(target);
      const novalidate = attribute(target, "novalidate") !== null || submitter?.hasAttribute("formnovalidate");
      try {
        if (novalidate || reportValidity.call(target)) EventTarget.prototype.dispatchEvent.call(target, new SubmitEvent("submit", { bubbles: true, cancelable: true, submitter }));
      } finally {
        firing.delete(target);
      }
    };
    addEventListener("click", (event) => {
      const button = event.composedPath().find(isSubmit);
      if (button) setTimeout(() => { if (!event.defaultPrevented && button.form && !button.matches(":disabled")) fire(button.form, button); });
    }, true);
    form.requestSubmit = function requestSubmit(submitter = null) {
      nativeRequestSubmit.call(this, submitter); // checks the arguments; the sandbox stops the rest
      fire(this, submitter);
    };
  }
})();
