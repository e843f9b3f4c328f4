// @ts-check
// Whether a person sees this page: a page out of sight makes no calls, because a chat may
// wake its agent at each of them.

const UNSEEN_AFTER = 5_000; // ms out of sight

/** Calls changed when the page becomes visible, and some time after it is hidden. @param {(seen: boolean) => void} changed */
export function watchSight(changed) {
  let visible = true, seen = true, timer = 0;
  const look = () => {
    const now = visible && !document.hidden;
    clearTimeout(timer);
    if (now === seen) return;
    const change = () => { seen = now; changed(now); };
    if (now) change();
    else timer = setTimeout(change, document.hidden ? 0 : UNSEEN_AFTER);
  };
  document.addEventListener("visibilitychange", look);
  new IntersectionObserver((all) => { visible = all[all.length - 1].isIntersecting; look(); }).observe(document.documentElement);
}
