// @ts-check
// Stops a canvas that takes the keyboard: one that moves the focus to itself while a person
// is in another canvas or in a text field of this page. What they type would go to it. Giving
// the focus back does not help: the browser then names the other frame, and the keys still
// go to the thief. So its frame is removed at the first theft, before the next key.
//
// A move of the focus into a frame is a person's if the pointer is over the frame, after a
// Tab, and if this page moved it. A canvas under the pointer can take the focus. This page
// sees no pointer in a frame, so a transparent shield lies over each one and goes away when
// the pointer enters it: presses reach the canvas. A touch would end at the shield, so on
// devices with a touch screen nothing is stopped.

const POLL = 8; // ms; moves from frame to frame cause no event here
const TAB = 500; // ms after a Tab in which the focus may enter a frame
const OWN = 1_000; // ms after this page moved the focus

/** @type {Element | undefined} */ let movedTo;
let movedAt = -Infinity;

/** Notes that this page moves the focus into a frame. @param {Element | null} frame */
export function focusMoves(frame) {
  movedTo = frame ?? undefined;
  movedAt = performance.now();
}

/**
 * @param {(frame: Element) => void} stop removes a frame that took the keyboard
 * @param {(inside: Element) => void} press focuses the canvas of a shield
 * @param {(frame: Element) => void} back gives the focus back to what had it in a frame
 * @param {() => void} moved the focus went into a frame, also from another one
 */
export function guardKeyboard(stop, press, back, moved) {
  if (matchMedia("(any-pointer: coarse)").matches) return;
  /** @type {Element | null} What has the focus */ let holder = null;
  let held = false; // by a person: a canvas that took the focus when nothing had it is not protected
  /** @type {Element | null} The stage under the pointer */ let under = null;
  let tabAt = -Infinity;
  let timer = 0;

  /** Whether a person can type there. @param {Element | null} el */
  const isText = (el) => el instanceof HTMLTextAreaElement || (el instanceof HTMLInputElement && !/^(button|checkbox|radio|submit|reset|range|color|file|image)$/.test(el.type));

  /** Whether a person moved the focus into a frame, as far as this page knows. @param {HTMLIFrameElement} frame */
  function byPerson(frame) {
    const at = performance.now();
    return frame.parentElement === under || at - tabAt <= TAB || (frame === movedTo && at - movedAt <= OWN);
  }

  function look() {
    const now = document.activeElement;
    if (now === holder) return follow();
    const from = holder;
    if (now instanceof HTMLIFrameElement && held && holder?.isConnected && !byPerson(now)) {
      stop(now);
      giveBack(/** @type {HTMLElement} */ (from));
    }
    holder = document.activeElement;
    if (holder instanceof HTMLIFrameElement && holder !== from) moved();
    held = isText(holder) || (holder instanceof HTMLIFrameElement && (holder === from || byPerson(holder)));
    follow();
  }

  /** Gives the focus back, more than once: what the thief's process did can still arrive later. @param {HTMLElement} to */
  function giveBack(to) {
    for (const wait of [0, 50, 150, 400]) {
      setTimeout(() => {
        if (document.activeElement !== document.body && document.activeElement !== to) return; // a person moved it
        if (to instanceof HTMLIFrameElement) back(to);
        else to.focus();
      }, wait);
    }
  }

  /** Looks again while a frame has the focus. */
  function follow() {
    const inFrame = holder instanceof HTMLIFrameElement && !document.hidden;
    if (inFrame === (timer !== 0)) return;
    clearInterval(timer);
    timer = inFrame ? setInterval(look, POLL) : 0;
  }

  addEventListener("blur", look);
  addEventListener("focus", look);
  document.addEventListener("focusin", look);
  document.addEventListener("visibilitychange", look);
  addEventListener("keydown", (event) => { if (event.key === "Tab") tabAt = performance.now(); }, true);
  document.body.dataset.guarded = "";
  const over = (/** @type {Event} */ { target }) => {
    const stage = target instanceof Element ? target.closest(".stage") : null;
    if (stage === under) return;
    under?.querySelector(".shield")?.classList.remove("down");
    stage?.querySelector(".shield")?.classList.add("down");
    under = stage;
    held ||= stage !== null && holder?.parentElement === stage;
  };
  document.addEventListener("pointerover", over, true);
  document.addEventListener("pointerdown", ({ target }) => { // on a shield that has just gone away: the press does not reach the canvas, but the keys will
    if (target instanceof Element && target.matches(".shield")) press(target);
  }, true);
  document.addEventListener("dragenter", over, true); // with files, for example
}
