// Reads {cases: [{name, schema, value, valid, open}]} from the file that is
// named and says, as JSON: what does not compile, which case has another verdict
// than it says, and which mutation of a required member or a tag is accepted.
import { readFileSync, readdirSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import { Sampler } from "./sample.mjs";

const folder = new URL("../", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));
const strict = { strict: true, strictTypes: true, strictTuples: true, strictRequired: true, validateFormats: true };

// The files one by one, with references between them; then the bundle.
function compileFiles() {
  const ajv = new Ajv2020(strict);
  const files = readdirSync(folder).filter((f) => f.endsWith(".json")).map(read);
  files.forEach((f) => ajv.addSchema(f));
  const failed = [];
  let count = 0;
  for (const f of files) {
    for (const name of Object.keys(f.$defs)) {
      try {
        ajv.compile({ $ref: `${f.$id}#/$defs/${name}` });
        count++;
      } catch (e) {
        failed.push(`${f.$id} ${name}: ${e.message}`);
      }
    }
  }
  return { count, failed };
}

const bundle = read("bundle.json");
const ajv = new Ajv2020(strict);
ajv.addSchema(bundle);
const compiled = new Map();
function validator(name) {
  if (!compiled.has(name)) compiled.set(name, ajv.compile({ $ref: `${bundle.$id}#/$defs/${name}` }));
  return compiled.get(name);
}
// Parts of definitions refer to the bundle.
const parts = new Map();
function holds(schema, value) {
  const whole = () => JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', `"${bundle.$id}#/$defs/`));
  if (!parts.has(schema)) parts.set(schema, ajv.compile(whole()));
  return parts.get(schema)(value);
}
const sampler = new Sampler(bundle.$defs, holds);

function runCases(cases) {
  const wrong = [];
  for (const c of cases) {
    const value = c.open ? sampler.fill({ $ref: `#/$defs/${c.schema}` }, c.value) : c.value;
    const validate = validator(c.schema);
    const valid = validate(value);
    if (valid !== c.valid) wrong.push(`${c.name}: ${c.schema} ${valid ? "accepts" : "refuses"} ${JSON.stringify(value).slice(0, 600)} ${valid ? "" : ajv.errorsText(validate.errors).slice(0, 400)}`);
  }
  return wrong;
}

// Each definition's sample fits; without a required member, or with another tag,
// it does not. mutants are for the Go types to judge too.
const mutants = [];
function mutate() {
  const accepted = [];
  let count = 0;
  for (const [name, schema] of Object.entries(bundle.$defs)) {
    const validate = validator(name);
    const whole = sampler.sample(schema);
    if (!validate(whole)) accepted.push(`the sample of ${name} does not fit: ${JSON.stringify(whole).slice(0, 300)} ${ajv.errorsText(validate.errors)}`);
    const s = sampler.resolve(schema);
    for (const member of Object.keys(s.properties ?? {})) {
      const { [member]: _, ...rest } = whole;
      const valid = validate(rest);
      count++;
      if (valid && s.required?.includes(member)) accepted.push(`${name} without ${member}`);
      mutants.push({ name: `${name} without ${member}`, schema: name, value: rest, valid });
    }
    for (const [member, p] of Object.entries(s.properties ?? {})) {
      if (p.const === undefined) continue;
      for (const other of [typeof p.const === "number" ? p.const - 7 : p.const + "x", null, [p.const]]) {
        count++;
        if (validate({ ...whole, [member]: other })) accepted.push(`${name} with ${member} ${JSON.stringify(other)}`);
      }
    }
    for (const option of s.oneOf ?? []) {
      const one = sampler.sample(option);
      if (!validate(one)) accepted.push(`${name} refuses a ${option.$ref}`);
      for (const [member, p] of Object.entries(sampler.resolve(option).properties)) {
        count++;
        if (p.const !== undefined && validate({ ...one, [member]: "no such tag" })) accepted.push(`${name} accepts a ${option.$ref} with another ${member}`);
      }
    }
    if (s.type === "object" && !validate({ ...whole, "x-later": { a: [1] } }) && s.additionalProperties === undefined) accepted.push(`${name} is closed`);
  }
  return { count, accepted };
}

const { cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const files = compileFiles();
const mutations = mutate();
console.log(JSON.stringify({
  compiled: files.count, mutations: mutations.count, cases: cases.length,
  mutants,
  wrong: [...files.failed, ...mutations.accepted, ...runCases(cases)],
}));
