// What the reducers share. Nothing here changes its input.

/** An object of which only some members are known. */
export type Members = { [name: string]: unknown };

/** A copy with one member set. null and undefined remove it: in an action both mean "clear", and a state has no null for what is absent. */
export function setOrClear<T extends object>(object: T, name: string, value: unknown): T {
  const copy: Members = { ...object, [name]: value }; // not copy[name] = value: a name may be __proto__
  if (value === undefined || value === null) delete copy[name];
  return copy as T;
}

/** The list with the element of the same key replaced in its place, or with one more element. */
export function upsert<T>(list: readonly T[], element: T, key: (element: T) => string): T[] {
  const i = list.findIndex((other) => key(other) === key(element));
  return i < 0 ? [...list, element] : list.with(i, element);
}

/** The list without the first element of a key. */
export function without<T>(list: readonly T[], id: string, key: (element: T) => string): T[] {
  const i = list.findIndex((element) => key(element) === id);
  return list.filter((_, at) => at !== i);
}

type WithConfig = { config?: { schema: unknown; values: Members } };

/** Config values merged, or all of them replaced. Without a config there is nothing to change. A null among the values is a value. */
export function changeConfig<T extends WithConfig>(state: T, values: Members, replace: boolean | undefined): T {
  if (state.config === undefined) return state;
  const merged = replace ? values : { ...state.config.values, ...values };
  return { ...state, config: { ...state.config, values: merged } };
}
