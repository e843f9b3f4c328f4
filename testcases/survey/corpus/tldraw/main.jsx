// tldraw as its README shows it, with its assets from the package and a key to keep drawings.
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { getAssetUrlsByImport } from "@tldraw/assets/imports.vite";
import { Tldraw } from "tldraw";
import "tldraw/tldraw.css";

createRoot(document.querySelector("#root")).render(
  createElement(Tldraw, { persistenceKey: "survey", assetUrls: getAssetUrlsByImport(), onMount: (editor) => { globalThis.editor = editor; } }),
);
