// @ts-check
// What a canvas wants of the person: dialogs, links to other sites, downloads, prints and
// permissions. Its frame has none of them, so this script asks the app page, which shows a
// bar on the card. Nothing is enforced here. The host serves it in front of shim.js.
"use strict";
{
  /** The outer frame, if this document is below one. @returns {any} */
  const frameOf = () => {
    try {
      for (let w = /** @type {any} */ (self); ; w = w.parent) {
        if (w.ahpPermissions !== undefined) return w;
        if (w.parent === w) return undefined;
      }
    } catch {
      return undefined; // of another origin
    }
  };
  const frame = frameOf();
  if (frame) watch(frame);

  /** @param {any} frame */
  function watch(frame) {
    const REMEMBER = 10_000; // ms that an answer waits for the same question
    const MAX_TEXT = 2_000; // characters; the app page shows fewer
    const { prototype: anchor } = HTMLAnchorElement;
    const click = anchor.click;

    /** Asks the app page. @param {any} ask @returns {MessagePort} on which the answer arrives */
    function tell(ask) {
      const { port1, port2 } = new MessageChannel();
      frame.postMessage({ "x-ahp": "ask", ask }, location.origin, [port2]);
      return port1;
    }
    /** @param {unknown} text */
    const short = (text) => String(text ?? "").slice(0, MAX_TEXT);

    /** @type {Map<string, { answer: any, timer: number }>} Answers to questions that were asked in a moment that is gone */
    const answers = new Map();

    /**
     * Asks a question whose answer a script wants at once. The first time it gets none. Once
     * the person has answered, what led to the question happens again, with the answer.
     * @param {"confirm" | "prompt"} kind @param {string} text @param {string} value @param {any} none
     */
    function question(kind, text, value, none) {
      const key = JSON.stringify([kind, text]);
      const found = answers.get(key);
      if (found) {
        answers.delete(key);
        clearTimeout(found.timer);
        return found.answer;
      }
      const event = /** @type {any} */ (self.event), target = /** @type {any} */ (event?.composedPath()[0]);
      tell({ kind, text: short(text), value: short(value), again: Boolean(target) }).onmessage = ({ data }) => {
        if (data === none || data === undefined) return;
        answers.set(key, { answer: data, timer: setTimeout(() => answers.delete(key), REMEMBER) });
        if (target) repeat(event, target);
      };
      return none;
    }

    /** @param {any} event @param {any} target */
    function repeat(event, target) {
      if (event.type === "click" && target.click) return target.click();
      if (event.type === "submit" && target.requestSubmit) return target.requestSubmit(event.submitter);
      target.dispatchEvent(new event.constructor(event.type, event));
    }

    globalThis.alert = (text) => void tell({ kind: "alert", text: short(text) });
    globalThis.confirm = (text) => question("confirm", String(text ?? ""), "", false);
    globalThis.prompt = (text, value) => question("prompt", String(text ?? ""), String(value ?? ""), null);
    globalThis.print = () => void tell({ kind: "print" });

    /** Takes the click of a link that the frame cannot follow. @param {any} node @returns {boolean} false if the browser follows it */
    function follow(node) {
      if (!node?.href) return false;
      const url = new URL(node.href, document.baseURI);
      if (node.hasAttribute?.("download") && (["blob:", "data:"].includes(url.protocol) || url.origin === location.origin)) {
        save(node.href, node.download);
        return true;
      }
      if (!/^https?:$/.test(url.protocol) || url.origin === location.origin) return false;
      tell({ kind: "link", url: url.href });
      return true;
    }

    /** Offers a file to the person. @param {string} href @param {string} name */
    function save(href, name) {
      const port = tell({ kind: "download", name: short(name) });
      // At once: scripts revoke the address of a Blob right after the click.
      fetch(href).then((r) => r.blob().then((blob) => port.postMessage({ blob, name: name || named(r, href) }))).catch(() => port.postMessage({}));
    }

    /** The name of a response. @param {Response} response @param {string} href */
    function named(response, href) {
      const given = response.headers.get("content-disposition") ?? "";
      const found = /filename\*\s*=\s*utf-8''([^;]+)/i.exec(given)?.[1];
      try {
        if (found) return decodeURIComponent(found);
      } catch {}
      return /filename\s*=\s*"?([^";]+)/i.exec(given)?.[1] ?? (/^https?:/.test(href) ? new URL(href).pathname.split("/").pop() : "") ?? "";
    }

    if (parent === frame) addEventListener("pagehide", () => tell({ kind: "gone" }));
    addEventListener("click", (event) => {
      const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement || node instanceof HTMLAreaElement);
      if (!event.defaultPrevented && event.button === 0 && follow(link)) event.preventDefault();
    });
    // A link outside of the document: its clicks do not arrive at the window.
    anchor.click = function () {
      if (this.isConnected || !follow(this)) Reflect.apply(click, this, []);
    };
    anchor.dispatchEvent = function (event) {
      return (event.type === "click" && !this.isConnected && follow(this)) || Reflect.apply(EventTarget.prototype.dispatchEvent, this, [event]);
    };

    const { open } = globalThis;
    globalThis.open = (url, target, ...more) => {
      if (/^_(self|parent|top)$/i.test(target ?? "") || (target && Reflect.has(self, target))) return Reflect.apply(open, self, [url, target, ...more]);
      if (!url || !URL.canParse(String(url), document.baseURI)) return null;
      const to = new URL(String(url), document.baseURI);
      if (to.origin === location.origin) location.assign(to);
      else tell({ kind: "link", url: to.href });
      return null;
    };

    /** Says that a script uses what the card does not allow. @param {string} what */
    function refused(what) {
      if (!frame.ahpPermissions.includes(what)) tell({ kind: "permission", what });
    }
    /** Calls before with the arguments of each call of a method. @param {any} of @param {string} name @param {(...given: any[]) => void} before */
    function wrap(of, name, before) {
      const native = of?.[name];
      if (typeof native !== "function") return;
      of[name] = /** @this {any} @param {...any} given */ function (...given) {
        before(...given);
        return Reflect.apply(native, this, given);
      };
    }
    for (const name of ["write", "writeText"]) wrap(globalThis.Clipboard?.prototype, name, () => refused("clipboardWrite"));
    wrap(Element.prototype, "requestFullscreen", () => refused("fullscreen"));
    wrap(Element.prototype, "requestPointerLock", () => refused("pointerLock"));
    for (const name of ["getCurrentPosition", "watchPosition"]) wrap(globalThis.Geolocation?.prototype, name, () => refused("geolocation"));
    wrap(globalThis.MediaDevices?.prototype, "getUserMedia", (wanted) => {
      if (wanted?.video) refused("camera");
      if (wanted?.audio) refused("microphone");
    });
  }
}
