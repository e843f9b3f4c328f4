// @ts-check
// Reports the height of a canvas's document to the shell, which asks the chat for it.
(() => {
  let last = "";
  function report() {
    const root = document.documentElement, body = document.body;
    if (!body) return;
    const overflow = root.scrollHeight > innerHeight;
    const end = body.getBoundingClientRect().bottom + scrollY + (parseFloat(getComputedStyle(body).marginBottom) || 0);
    const height = Math.ceil(overflow ? root.scrollHeight : Math.max(end, ...[...body.children].map((c) => c.getBoundingClientRect().bottom + scrollY)));
    const fills = !overflow && height >= innerHeight - 1;
    const now = `${height} ${fills}`;
    if (now === last) return;
    last = now;
    parent.postMessage({ "x-ahp": "height", height, fills }, "*");
  }
  addEventListener("DOMContentLoaded", () => {
    const watch = new ResizeObserver(report);
    watch.observe(document.documentElement);
    watch.observe(document.body);
    report();
  });
  addEventListener("load", report);
})();
