/** Records keyed by names that people and agents chose: `constructor` and `__proto__` are names like any other. */

export function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  const value = record[key];
  // All that a plain record inherits is functions and a prototype: anything else is its own, and is found by one look.
  const mayBeInherited = typeof value === "function" || key === "__proto__";
  return mayBeInherited && !Object.hasOwn(record, key) ? undefined : value;
}

export function put<Value>(record: Record<string, Value>, key: string, value: Value): void {
  if (key === "__proto__") Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  else record[key] = value;
}

export function add(record: Record<string, number>, key: string): void {
  put(record, key, (own(record, key) ?? 0) + 1);
}
