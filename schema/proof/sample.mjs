// A value of a schema, made from the schema: for what a transcript leaves open,
// and for the mutations.

const candidates = ["x", "GET", "/", "a_b", "text/plain", "", "AAAA", "plan"];
export const schemes = { Root: "ahp-root://", Session: "ahp-session:/default", Canvas: "ahp-canvas:/plan" };

export class Sampler {
  // holds(schema, value) says whether a value fits a subschema.
  constructor(defs, holds) {
    this.defs = defs;
    this.holds = holds;
  }

  resolve(schema) {
    while (schema.$ref) schema = this.defs[schema.$ref.replace("#/$defs/", "")];
    return schema;
  }

  // branch is the member of a union that a value's tag, or its type, chooses.
  branch(schema, value) {
    const options = schema.oneOf ?? schema.anyOf;
    const fits = (option) => {
      const s = this.resolve(option);
      if (value === undefined) return true;
      if (s.oneOf || s.anyOf) return true;
      if (!s.properties) return s.type === (value === null ? "null" : typeof value);
      return typeof value === "object" && value !== null &&
        Object.entries(s.properties).every(([k, p]) => p.const === undefined || !(k in value) || p.const === value[k]);
    };
    return options.find(fits) ?? options[0];
  }

  // sample makes a value with every member, as deep as it takes for each type to
  // be met once.
  sample(schema, seen = []) {
    const s = this.resolve(schema);
    if (s === true) return { any: [1] };
    if (s.const !== undefined) return s.const;
    if (s.enum) return s.enum[0];
    if (s.examples) return s.examples[0];
    if (s.oneOf || s.anyOf) return this.sample(this.branch(s), seen);
    switch (s.type) {
      case "object":
        return this.object(s, {}, seen, true);
      case "array":
        return s.prefixItems ? s.prefixItems.map((p) => this.sample(p, seen)) : [this.sample(s.items, seen)];
      case "string":
        return this.string(s);
      case "integer":
        return Math.max(s.minimum ?? 1, 1);
      case "boolean":
        return true;
      case "null":
        return null;
    }
    return { any: [1] };
  }

  string(s) {
    if (!s.pattern) return "x".repeat(s.minLength ?? 1);
    const found = candidates.find((c) => new RegExp(s.pattern, "u").test(c));
    if (found === undefined) throw new Error(`no sample of ${s.pattern}`);
    return found;
  }

  object(s, value, seen, whole) {
    if (seen.includes(s)) whole = false;
    for (const [name, p] of Object.entries(s.properties ?? {})) {
      if (!(name in value) && (whole || s.required?.includes(name))) value[name] = this.sample(p, [...seen, s]);
    }
    for (const then of this.conditions(s, value)) {
      for (const [name, p] of Object.entries(then.properties ?? {})) {
        if (p === false) delete value[name];
        else if (name in value && !this.holds(p, value[name])) value[name] = this.sample(p, [...seen, s]);
      }
    }
    return value;
  }

  // conditions lists what if, then and else add for a value.
  conditions(s, value) {
    if (!s.if) return [];
    const next = this.holds(s.if, value) ? s.then : s.else;
    return next ? [next, ...this.conditions(next, value)] : [];
  }

  // fill replaces what an expectation leaves open: "$*", "$name" and "$name+1" are
  // any value, "$...": true is any further member, an element "$..." any further
  // elements.
  fill(schema, value, name = "") {
    const s = this.resolve(schema);
    if (typeof value === "string" && /^\$(\*|[a-z]\w*([+-]\d+)?)$/.test(value)) return this.open(s, value, name);
    if (s.oneOf || s.anyOf) return this.fill(this.branch(s, value), value, name);
    if (Array.isArray(value)) return value.filter((v) => v !== "$...").map((v, i) => this.fill(s.prefixItems?.[i] ?? s.items ?? {}, v));
    if (value === null || typeof value !== "object") return value;
    const out = {};
    const open = "$..." in value;
    const members = Object.entries(value).filter(([key]) => key !== "$...");
    for (const [key, v] of members) out[key] = this.fill(s.properties?.[key] ?? {}, v, key);
    for (const then of this.conditions(s, out)) {
      for (const [key, p] of Object.entries(then.properties ?? {})) {
        if (key in value && !this.holds(p, out[key])) out[key] = this.fill(p, value[key], key);
      }
    }
    return open ? this.object(s, out, [], false) : out;
  }

  open(s, value, name) {
    if (["channel", "resource"].includes(name) && s.type === "string") return schemes.Canvas;
    return this.sample(s);
  }
}
