// redact-value: removes secrets from every text of a value, except for the names and hashes by
// which the runner refers to things.
//
// Invariants:
//   V1. Names of events, reasons, attempts and cursors are made by the runner, from texts that were
//       redacted before, and stay as they are.
//   V2. A git object's name or a hash under a key that holds one stays, even if a secret happens to
//       look the same.
//   V3. A value in which nothing was found comes back as it is, not as a copy.

/** V1: keys of an event itself, not of anything inside it. */
const ownKeys: ReadonlySet<string> = new Set([
  "event",
  "reason_code",
  "run_id",
  "attempt",
  "walk",
  "step",
  "block",
  "request",
  "from_state",
  "to_state",
]);

/** Keys whose value is a hash or a git object's name (V2). */
const hashKeys: ReadonlySet<string> = new Set([
  "ack",
  "claim",
  "commit",
  "config_hash",
  "env_hash",
  "evidence",
  "flow_hash",
  "found",
  "layer",
  "output_hash",
  "parent",
  "raw",
  "recorded",
  "script",
  "sha256",
  "tree",
  "tree_after",
  "tree_before",
]);
/** Keys whose value is a record of hashes, under any names. */
const hashRecords: ReadonlySet<string> = new Set(["prompts"]);
const hashPattern = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/**
 * Keys of this form are not redacted: a secret this short, of these letters alone, would be a plain
 * word.
 */
const plainKeyPattern = /^[a-z_]{1,16}$/;
/** Stands for the names in such a record. */
const anyHashKey = "sha256";
/** Deeper than any value that is written on purpose. */
const depthMax = 500;

/**
 * A secret of digits alone may be returned as a number; no figure of the runner's own is this
 * large.
 */
const longNumberMin = 1e15;

type Redact = (text: string) => string;

/** A value of any shape, its keys included. */
export function redactValue<Value>(redact: Redact, value: Value): Value {
  return walk(redact, value, "", 0) as Value;
}

/** An event on its way to the journal. */
export function redactEvent<Event extends object>(redact: Redact, event: Event): Event {
  let copy: Record<string, unknown> | null = null;
  for (const key in event) {
    if (ownKeys.has(key)) continue; // V1
    const value: unknown = event[key];
    const clean = walk(redact, value, key, 1);
    if (clean === value) continue;
    copy ??= Object.fromEntries(Object.entries(event));
    copy[key] = clean;
  }

  return (copy ?? event) as Event; // V3
}

// Every append passes here, so it allocates nothing before there is something to change.
function walk(redact: Redact, value: unknown, key: string, depth: number): unknown {
  if (typeof value === "string") {
    return hashKeys.has(key) && hashPattern.test(value) ? value : redact(value);
  } // V2

  if (typeof value === "number") {
    return Math.abs(value) >= longNumberMin ? walkNumber(redact, value) : value;
  }

  if (typeof value !== "object" || value === null) return value;
  if (depth > depthMax) return "[redacted]";
  return Array.isArray(value)
    ? walkList(redact, value, key, depth)
    : walkRecord(redact, value as Record<string, unknown>, key, depth);
}

function walkNumber(redact: Redact, value: number): unknown {
  const clean = redact(String(value));
  return clean === String(value) ? value : clean;
}

function walkRecord(
  redact: Redact,
  record: Record<string, unknown>,
  key: string,
  depth: number,
): unknown {
  const isOfHashes = hashRecords.has(key);
  let entries: [string, unknown][] | null = null;
  let position = 0;

  for (const name in record) {
    const inner = record[name];
    const clean = walk(redact, inner, isOfHashes ? anyHashKey : name, depth + 1);
    const cleanName = plainKeyPattern.test(name) ? name : redact(name);
    if (clean !== inner || cleanName !== name) {
      (entries ??= Object.entries(record))[position] = [cleanName, clean];
    }

    position += 1;
  }

  return entries === null ? record : Object.fromEntries(entries); // V3
}

function walkList(redact: Redact, list: readonly unknown[], key: string, depth: number): unknown {
  let copy: unknown[] | null = null;
  for (let index = 0; index < list.length; index++) {
    const clean = walk(redact, list[index], key, depth + 1);
    if (clean !== list[index]) (copy ??= [...list])[index] = clean;
  }

  return copy ?? list; // V3
}
