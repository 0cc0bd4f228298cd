// own-values: safe access to records whose keys people and agents chose, such as `constructor` or `__proto__`.

/** Records keyed by names that people and agents chose: `constructor` and `__proto__` are names like any other. */

export function ownValue<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  const value = record[key];
  // A plain record inherits only functions and its prototype: any other value is its own, and one lookup finds it.
  const mayBeInherited = typeof value === "function" || value === Object.prototype;
  return mayBeInherited && !Object.hasOwn(record, key) ? undefined : value;
}

/** Its values; several times faster than Object.values where keys come and go. */
export function recordValues<Value>(record: Readonly<Record<string, Value>>): Value[] {
  return Object.keys(record).map((name) => record[name] as Value);
}

export function setValue<Value>(record: Record<string, Value>, key: string, value: Value): void {
  if (key === "__proto__") Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  else record[key] = value;
}

export function incrementValue(record: Record<string, number>, key: string): void {
  setValue(record, key, (ownValue(record, key) ?? 0) + 1);
}
