// Reads cases from standard input, one JSON object a line, and answers each with
// one line: {"state": ...} or {"error": "..."}. The Go tests speak to it.
import { createInterface } from "node:readline";
import { parse, stringify } from "./json.js";
import { run, type Case } from "./reduce.js";

function answer(line: string): object {
  try {
    return { state: run(parse(line) as Case) };
  } catch (err) {
    return { error: String(err) };
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  process.stdout.write(stringify(answer(line)) + "\n");
}
