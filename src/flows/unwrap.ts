// unwrap: finds a return inside the wrappers that agents put around it: a text, a list of one, an
// envelope. Pure.

/** Keys under which agents hand back what was asked for. */
const envelopeKeys = [
  "result",
  "return",
  "returns",
  "response",
  "output",
  "answer",
  "data",
  "arguments",
  "value",
  "json",
  "report",
];
const depthMax = 3;
const textCharsMax = 256 * 1024;

/** The inner values of something that isn't a return itself, outermost first. */
export function unwrap(value: unknown, depth = 0): readonly unknown[] {
  if (depth >= depthMax) return [];
  return listInnerValues(value).flatMap((innerValue) => [
    innerValue,
    ...unwrap(innerValue, depth + 1),
  ]);
}

/** The values one wrapper further in; none if the value is not a wrapper. */
function listInnerValues(value: unknown): readonly unknown[] {
  if (typeof value === "string") {
    const text = value.trim();
    return text.length <= textCharsMax && /^[{[]/.test(text) ? parseJson(text) : [];
  }

  if (Array.isArray(value)) return value.length === 1 ? value : [];
  if (typeof value !== "object" || value === null) return [];
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  const envelopes = entries.filter(([key]) => envelopeKeys.includes(key.toLowerCase()));
  // An object with a single key of any name is an envelope too, if it holds an object.
  const singleEntry = entries.length === 1 ? entries : [];

  return (envelopes.length > 0 ? envelopes : singleEntry)
    .map(([, innerValue]) => innerValue)
    .filter(
      (innerValue) =>
        typeof innerValue === "string" || (typeof innerValue === "object" && innerValue !== null),
    );
}

/** The value of a JSON text, as a list of one; none if it is not JSON. */
function parseJson(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text) as unknown];
  } catch {
    return [];
  }
}
