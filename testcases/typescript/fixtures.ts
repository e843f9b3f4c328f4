// Runs a folder of reducer fixtures: node dist/testcases/typescript/fixtures.js [DIR]
import { deepStrictEqual } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "./json.js";
import { run, type Case } from "./reduce.js";

const dir = process.argv[2] ?? "../reducers";
const files = readdirSync(dir).filter((name) => name.endsWith(".json")).sort();
let failed = 0;
for (const name of files) {
  const fixture = parse(readFileSync(join(dir, name), "utf8")) as Case & { expected: unknown };
  const state = run(fixture);
  try {
    deepStrictEqual(state, fixture.expected);
  } catch {
    failed++;
    console.log(`FAIL ${name}\n  want ${stringify(fixture.expected)}\n  have ${stringify(state)}`);
  }
}
console.log(`${files.length - failed} of ${files.length} fixtures pass`);
process.exitCode = failed === 0 && files.length > 0 ? 0 : 1;
