// Prints a TypeScript program that only compiles where every union of
// bundle.json narrows by its tag: a switch over all tags that leaves never, and
// for each member a value with a wrong tag that must not fit.
// usage: node unions.mjs IMPORT
import { readFileSync } from "node:fs";

const { $defs } = JSON.parse(readFileSync(new URL("../bundle.json", import.meta.url), "utf8"));
const resolve = (s) => (s.$ref ? resolve($defs[name(s)]) : s);
const name = (s) => s.$ref.replace("#/$defs/", "");

// tagOf is the required member whose consts are different in all members.
function tagOf(members) {
  const [first] = members;
  return Object.keys(first.properties).find((key) => {
    const values = members.map((m) => m.required?.includes(key) && m.properties[key]?.const);
    return values.every((v) => v !== undefined && v !== false) && new Set(values).size === values.length;
  });
}

const unions = Object.entries($defs).filter(([, s]) => s.oneOf?.length > 1);
const imports = new Set();
const body = unions.map(([union, s]) => {
  const members = s.oneOf.map(resolve);
  const tag = tagOf(members);
  if (!tag) throw new Error(`${union} has no tag`);
  imports.add(union);
  const cases = s.oneOf.map((option, i) => {
    imports.add(name(option));
    const value = JSON.stringify(members[i].properties[tag].const);
    return `    case ${value}: { const member: ${name(option)} = v; const tag: ${value} = member[${JSON.stringify(tag)}]; return tag; }`;
  });
  // A wrong tag does not fit.
  const wrong = `// @ts-expect-error: no member has this tag\nexport const wrong${union}: ${union}[${JSON.stringify(tag)}] = "no such tag";`;
  return `export function switch${union}(v: ${union}): string | number {
  switch (v[${JSON.stringify(tag)}]) {
${cases.join("\n")}
    default: { const nothing: never = v; return nothing; }
  }
}
${wrong}`;
});
console.log(`// ${unions.length} unions\nimport type { ${[...imports].join(", ")} } from ${JSON.stringify(process.argv[2])};\n${body.join("\n")}`);
