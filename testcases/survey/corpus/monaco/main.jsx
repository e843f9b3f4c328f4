// Monaco as its samples for Vite show it, with its workers.
import * as monaco from "monaco-editor";
import EditorWorker from "monaco-editor/esm/vs/editor/editor.worker?worker";
import TsWorker from "monaco-editor/esm/vs/language/typescript/ts.worker?worker";

self.MonacoEnvironment = { getWorker: (_, label) => (label === "javascript" ? new TsWorker() : new EditorWorker()) };
globalThis.editor = monaco.editor.create(document.querySelector("#root"), { value: "const n = 1;\n", language: "javascript" });
globalThis.monaco = monaco;
