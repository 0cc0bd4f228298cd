// redact-patterns: recognises secrets by their form, without a known value: API keys, tokens,
// private keys, passwords in URLs. Hashes, ids and ordinary base64 have none of these forms.

/** `secretGroup`: the group that has the secret, if the rest of the match may stay. */
export type SecretPattern = {
  readonly kind: string;
  readonly pattern: RegExp;
  readonly secretGroup?: number;
};

const notBefore = "(?<![A-Za-z0-9])";
const value = "(?!\\[redacted)[A-Za-z0-9._~+/=-]";
/** Not a placeholder that people write in the place of a secret: `$TOKEN`, `<token>`, `xxx`. */
const placeholder = "(?!\\[redacted|[$<{*]|x{3})";
/** No secret of these forms is longer than this, and a stream holds back as much. */
export const patternCharsMax = 16 * 1024;

/** Keys that begin with letters of their own. A new form is one row. */
const keyForms: readonly {
  readonly kind: string;
  readonly head: string;
  readonly tail: string;
}[] = [
  {
    kind: "a model provider's key",
    head: "sk-",
    tail: "(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{16,1024}",
  },
  {
    kind: "a model provider's plain key",
    head: "sk-",
    tail: "(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,256}",
  },
  { kind: "a GitHub token", head: "gh[opsur]_", tail: "[A-Za-z0-9]{36,255}" },
  { kind: "a GitHub fine-grained token", head: "github_pat_", tail: "[A-Za-z0-9_]{22,255}" },
  { kind: "a GitLab token", head: "glpat-", tail: "[A-Za-z0-9_-]{20,255}" },
  { kind: "a Slack token", head: "(?:xox[abeoprs]|xapp)-", tail: "[A-Za-z0-9-]{10,255}" },
  { kind: "an AWS key id", head: "A[KS]IA", tail: "[A-Z0-9]{16}(?![A-Za-z0-9])" },
  { kind: "a Google key", head: "AIza", tail: "[A-Za-z0-9_-]{35}" },
  { kind: "an npm token", head: "npm_", tail: "[A-Za-z0-9]{36}" },
  { kind: "a Hugging Face token", head: "hf_", tail: "[A-Za-z0-9]{30,255}" },
  { kind: "a payment key", head: "[rs]k_(?:live|test)_", tail: "[A-Za-z0-9]{16,255}" },
  {
    kind: "a JSON web token",
    head: "eyJ",
    tail: "[A-Za-z0-9_-]{8,8192}\\.eyJ[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{8,2048}",
  },
];
const keyHeads = [...new Set(keyForms.map(({ head }) => head))].join("|");

export const secretPatterns: readonly SecretPattern[] = [
  ...keyForms.map(({ kind, head, tail }) => ({
    kind,
    pattern: new RegExp(`${notBefore}${head}${tail}`, "g"),
  })),
  {
    kind: "a private key", // and one whose end was cut off
    pattern:
      /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]{0,12000}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[nr]){1,8}[A-Za-z0-9+/=]{16,4096}){0,400}(?:(?:[\r\n]|\\[nr]){1,4}[A-Za-z0-9+/=]{1,128})?)/g,
  },
  {
    kind: "an Authorization header",
    pattern: new RegExp(
      `\\bauthorization["']?\\s{0,4}[:=]\\s{0,4}["']?(?:bearer|basic|token)\\s{1,4}(${value}{8,4096})`,
      "gi",
    ),
    secretGroup: 1,
  },
  {
    kind: "a bearer token",
    pattern: new RegExp(`\\bbearer\\s{1,4}((?=[A-Za-z._~+/=-]*[0-9])${value}{20,4096})`, "gi"),
    secretGroup: 1,
  },
  {
    kind: "an API key header",
    pattern: new RegExp(
      `\\b(?:x-)?(?:goog-)?api-key["']?\\s{0,4}[:=]\\s{0,4}["']?(${value}{16,1024})`,
      "gi",
    ),
    secretGroup: 1,
  },
  {
    kind: "a password in a URL",
    pattern: new RegExp(
      `\\b[a-z][a-z0-9+.-]{1,20}://[^\\s/:@"'<>]{0,256}:(${placeholder}[^\\s/@"'<>]{1,1024})@`,
      "gi",
    ),
    secretGroup: 1,
  },
  {
    kind: "a token in a URL",
    pattern: new RegExp(
      `\\b[a-z][a-z0-9+.-]{1,20}://(${placeholder}[A-Za-z0-9_-]{20,1024})@`,
      "gi",
    ),
    secretGroup: 1,
  },
];

/**
 * The beginning of such a secret at the end of a text that goes on. A port in a URL, or a word
 * after "bearer", doesn't count.
 */
const beginnings: readonly RegExp[] = [
  new RegExp(`${notBefore}(?:${keyHeads})[A-Za-z0-9_.-]{8,}$`, "d"),
  new RegExp(
    `\\bauthorization["']?\\s{0,4}[:=]\\s{0,4}["']?(?:bearer|basic|token)\\s{1,4}(${value}{4,})$`,
    "di",
  ),
  new RegExp(`\\bbearer\\s{1,4}((?=[A-Za-z._~+/=-]*[0-9])${value}{8,})$`, "di"),
  new RegExp(`\\b(?:x-)?(?:goog-)?api-key["']?\\s{0,4}[:=]\\s{0,4}["']?(${value}{8,})$`, "di"),
  new RegExp(
    `\\b[a-z][a-z0-9+.-]{1,20}://[^\\s/:@"'<>]{0,256}:(?!\\d{1,5}$)(${placeholder}[^\\s/@"'<>]{4,})$`,
    "di",
  ),
];
/** So much of the end is inspected: a longer beginning already matches the whole pattern. */
const beginningCharsMax = 2_048;

/** Where a secret may begin that the end of the text cuts; null if nothing looks like it. */
export function findBeginning(text: string): number | null {
  const tail = text.slice(-beginningCharsMax);
  let earliest: number | null = null;

  for (const pattern of beginnings) {
    const match = pattern.exec(tail);
    const start = match === null ? null : (match.indices?.[1]?.[0] ?? match.index);
    if (start !== null && (earliest === null || start < earliest)) earliest = start;
  }

  return earliest === null ? null : text.length - tail.length + earliest;
}

/** A quick test that every match of a pattern above passes: nearly all texts fail it. */
const hintPattern = new RegExp(
  `${keyHeads}|-----BEGIN|[eE][aA][rR][eE][rR]|[uU][tT][hH][oO][rR][iI][zZ][aA][tT][iI][oO][nN]|[aA][pP][iI]-[kK][eE][yY]|://[^\\s/]*@`,
);

/** No pattern matches a shorter text: `ab://:p@`. */
const hintCharsMin = 8;
/** Whether it is worth looking for the patterns at all. */
export const mayHoldPattern = (text: string): boolean =>
  text.length >= hintCharsMin && hintPattern.test(text);

/** Calls back with each part of a text that has the form of a secret. */
export function findPatterns(text: string, onFound: (start: number, end: number) => void): void {
  if (!mayHoldPattern(text)) return;
  for (const { pattern, secretGroup } of secretPatterns) {
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const secret = secretGroup === undefined ? match[0] : (match[secretGroup] ?? "");
      const start =
        secretGroup === undefined ? match.index : match.index + match[0].lastIndexOf(secret);
      if (secret !== "") onFound(start, start + secret.length);
    }
  }
}
