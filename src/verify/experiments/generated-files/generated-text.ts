// generated-text: compares what a generator writes with what was left of it: not spaces, quotes and
// other marks that formatters change, not dates in the first lines, and not what differs between
// two runs. Pure.

const headLinesMax = 8;
const datePattern =
  /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?/g;

/** Whether a text is what the runs wrote, as far as they agree; null if too little of it does. */
export function isAsMade(left: string, made: readonly string[]): boolean | null {
  const wanted = toTokens(left);
  const [first = [], ...others] = made.map(toTokens);
  if (others.some((tokens) => tokens.length !== first.length)) return null;
  if (wanted.length !== first.length) return false;
  return wanted.every(
    (token, index) =>
      token === first[index] || others.some((tokens) => tokens[index] !== first[index]),
  );
}

/** Words and signs, without what formatters add, take away or exchange. */
function toTokens(text: string): readonly string[] {
  const lines = text.split("\n");
  const head = lines.slice(0, headLinesMax).join("\n").replaceAll(datePattern, "DATE");
  const plain = [head, ...lines.slice(headLinesMax)].join("\n").replaceAll(/["'`]/g, '"');
  const tokens = plain.match(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];

  return tokens.filter(
    (token, index) => token !== ";" && !(token === "," && /^[)\]}]$/.test(tokens[index + 1] ?? "")),
  );
}
