// Excalidraw as its README shows it, with what was drawn in localStorage, as its site has it.
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { Excalidraw, serializeAsJSON } from "@excalidraw/excalidraw";
import "@excalidraw/excalidraw/index.css";

const initialData = JSON.parse(localStorage.getItem("drawing") ?? "null");
const keep = (elements, appState, files) => {
  globalThis.drawn = elements.filter((el) => !el.isDeleted).length;
  localStorage.setItem("drawing", serializeAsJSON(elements, appState, files, "local"));
};
createRoot(document.querySelector("#root")).render(createElement(Excalidraw, { initialData, onChange: keep }));
