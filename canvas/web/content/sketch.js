// @ts-check
// Sketches a canvas's document for the page's list of canvases: boxes, lines of text as bars
// and images as blocks, in their places and colors, without a word of the text. What is
// marked data-private is not in it. The host puts this in front of frame.js.
"use strict";
{
  const MAX_SHAPES = 400;
  const MAX_NODES = 5_000; // nodes that are visited
  const MAX_RECTS = 12; // lines of one text
  const POINTS = 16; // of a drawn line
  const SKIPPED = new Set(["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "HEAD", "OPTION"]);
  const BLOCKS = new Set(["IMG", "VIDEO", "CANVAS", "OBJECT", "EMBED", "IFRAME"]);
  const DRAWN = new Set(["rect", "circle", "ellipse"]);
  const LINES = new Set(["path", "polyline", "line"]);

  /** @typedef {{ left: number, top: number, right: number, bottom: number }} Area */
  /** @typedef {{ t: "box" | "text" | "block", x: number, y: number, w: number, h: number, r?: number, fill?: string, line?: string } | { t: "line", points: number[], line: string }} Shape */

  /** @param {Area} a @param {Area} b @returns {Area | undefined} what both have, unless it is hardly visible */
  function common(a, b) {
    const area = { left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) };
    return area.right - area.left >= 2 && area.bottom - area.top >= 2 ? area : undefined;
  }

  /** Whether nothing is painted in a color. @param {string} color */
  const unseen = (color) => color === "transparent" || color === "none" || /[,/] ?0\)$/.test(color);

  /** @param {any} doc @returns {{ width: number, height: number, ground: string, shapes: Shape[] } | undefined} undefined if the document is not shown now */
  function sketch(doc) {
    const view = doc.defaultView, width = view.innerWidth, height = view.innerHeight;
    if (!doc.body || width < 20 || height < 20) return undefined;
    /** @type {Shape[]} */ const shapes = [];
    let visited = 0;
    /** @param {"box" | "text" | "block"} t @param {Area} a @param {object} more */
    const put = (t, { left, top, right, bottom }, more) => { shapes.push({ t, x: Math.round(left), y: Math.round(top), w: Math.round(right - left), h: Math.round(bottom - top), ...more }); };

    /** @param {Text} node @param {Area} clip @param {string} color */
    function text(node, clip, color) {
      if (!node.data.trim()) return;
      const range = doc.createRange();
      range.selectNodeContents(node);
      for (const rect of [...range.getClientRects()].slice(0, MAX_RECTS)) {
        const seen = common(rect, clip);
        if (seen) put("text", seen, { fill: color });
      }
    }

    /** @param {any} el @param {CSSStyleDeclaration} style @param {Area} clip */
    function line(el, style, clip) {
      const at = el.getScreenCTM?.(), length = el.getTotalLength?.();
      if (!at || !(length > 2) || unseen(style.stroke) || !common(el.getBoundingClientRect(), { ...clip, left: clip.left - 2, top: clip.top - 2 })) return;
      const points = Array.from({ length: POINTS }, (_, i) => {
        const p = el.getPointAtLength((length * i) / (POINTS - 1)).matrixTransform(at);
        return [Math.round(p.x), Math.round(p.y)];
      });
      shapes.push({ t: "line", points: points.flat(), line: style.stroke });
    }

    /** @param {any} node @param {Area} clip @param {string} color of the text @param {number} level of nesting */
    function walk(node, clip, color, level) {
      if (shapes.length >= MAX_SHAPES || ++visited > MAX_NODES || level > 100) return;
      if (node.nodeType === 3) return text(node, clip, color);
      if (node.nodeType !== 1 || SKIPPED.has(node.tagName) || node.hasAttribute("data-private")) return;
      const style = view.getComputedStyle(node);
      if (style.display !== "contents" && node.checkVisibility?.() === false) return; // also what a closed <details> has
      if (style.display === "none" || style.visibility !== "visible" || Number(style.opacity) < 0.1) return;
      const rect = node.getBoundingClientRect(), seen = common(rect, clip);
      if (LINES.has(node.tagName) && unseen(style.fill)) return line(node, style, clip);
      if (seen) {
        const fill = DRAWN.has(node.tagName) ? style.fill : style.backgroundColor, border = parseFloat(style.borderTopWidth) && parseFloat(style.borderLeftWidth) ? style.borderTopColor : "none";
        if (BLOCKS.has(node.tagName)) return put("block", seen, {});
        if (node !== doc.body && (!unseen(fill) || !unseen(border))) put("box", seen, { r: Math.min(parseFloat(style.borderTopLeftRadius) || 0, 99), fill: unseen(fill) ? "none" : fill, line: unseen(border) ? "none" : border });
      }
      const inside = style.display === "contents" || style.overflow === "visible" ? clip : seen;
      if (inside) for (const child of (node.shadowRoot ?? node).childNodes) walk(child, inside, style.color, level + 1);
    }

    const grounds = [doc.body, doc.documentElement].map((el) => view.getComputedStyle(el).backgroundColor);
    walk(doc.body, { left: 0, top: 0, right: width, bottom: height }, "", 0);
    return { width, height, ground: grounds.find((color) => !unseen(color)) ?? "none", shapes };
  }
  Object.defineProperty(globalThis, "ahpSketch", { value: sketch });
}
