// Writes the TypeScript types of bundle.json to typescript/ahp.ts, or into the
// file that is named.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const here = (name) => new URL(name, import.meta.url);

// The tool speaks an older draft. Three things are said to it in its own words:
// a schema without a constraint is unknown, a description beside a reference
// makes a second type (so it goes), and prefixItems were called items.
function older(node) {
  if (node === null || typeof node !== "object") return node;
  if (node.$ref) return { $ref: node.$ref };
  const out = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === "properties") out[key] = members(value);
    else if (key === "prefixItems") out.items = value.map(older);
    else if (["oneOf", "anyOf"].includes(key)) out[key] = value.map(older);
    else if (["items", "additionalProperties"].includes(key)) out[key] = older(value);
    else if (!["if", "then", "else", "examples"].includes(key)) out[key] = value;
  }
  if (Object.keys(out).join() === "description") out.tsType = "unknown";
  return out;
}

const members = (map) => Object.fromEntries(Object.entries(map).map(([name, node]) => [name, older(node)]));

export async function typescript() {
  const bundle = JSON.parse(await readFile(here("../bundle.json"), "utf8"));
  const text = await compile({ $defs: members(bundle.$defs) }, "Bundle", {
    unreachableDefinitions: true,
    bannerComment: `// Generated from bundle.json by proof/typescript.mjs: do not edit.\n// ${bundle.$id}`,
  });
  // The document itself is no type, and where a type came from is no news.
  return text
    .replace(/export interface Bundle \{\n(?:  .*\n)*\}\n/, "")
    .replace(/ \*\n \* This interface was referenced by `Bundle`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g, "")
    .replace(/\/\*\*\n \* This interface was referenced by `Bundle`'s JSON-Schema\n \* via the `definition` "\w+"\.\n \*\/\n/g, "");
}

await writeFile(process.argv[2] ?? here("../typescript/ahp.ts"), await typescript());
