// JSON whose numbers keep every digit.
//
// JSON.parse reads 9007199254740993 as ...992, and 1.0 as 1. Most of a state is
// none of a reader's business (inputs, schemas, members of a later protocol)
// and has to come out as it went in. So a number that a double prints back as
// it was written becomes a number, and any other keeps its text in an object
// that stringify writes as it is. A member that the types call a number may
// therefore hold such an object; nothing here calculates with one.
import { LosslessNumber, parse as parseWith, stringify as stringifyWith } from "lossless-json";

export function parse(text: string): unknown {
  return parseWith(text, null, (digits) => (String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits)));
}

export function stringify(value: unknown): string {
  const text = stringifyWith(value);
  if (text === undefined) throw new TypeError("not a JSON value");
  return text;
}
