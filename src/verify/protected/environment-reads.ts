// environment-reads: finds the names of environment variables that code reads, in the forms of
// common languages. Pure.

/**
 * A read that names its variable: `process.env.NO_COLOR`, `os.environ.get("HOME")`, `const { PORT }
 * = process.env`.
 */
const namedReads: readonly RegExp[] = [
  /\b(?:process|import\.meta)\.env(?:\??\.([A-Za-z_]\w*)|\??\.?\[\s*["'`](\w+)["'`]\s*\])/g,
  /\bos\.environ(?:\.get\(\s*["'](\w+)["']|\[\s*["'](\w+)["']\s*\])/g,
  /\b(?:os\.(?:getenv|Getenv|LookupEnv)|env::var(?:_os)?|(?:System\.)?getenv)\s*\(\s*["'](\w+)["']/g,
  /\b(?:option_)?env!\s*[([{]\s*"(\w+)"/g,
  /\bENV\[\s*["'](\w+)["']\s*\]/g,
  /\$ENV\{\s*["']?(\w+)["']?\s*\}/g,
];
/** `const { PORT, HOST } = process.env`: one read that names several. */
const takenApart = /\{([^{}]*)\}\s*=\s*(?:process|import\.meta)\.env\b(?!\s*[.[])/g;
const inEnvironment = /(?:["'](\w+)["']\s+(?:not\s+)?in\s+(?:os\.environ|process\.env))\b/g;

/** The variables by name, and how many reads name one. */
function findNamedReads(text: string): {
  readonly names: readonly string[];
  readonly reads: number;
} {
  const single = [...namedReads, inEnvironment].flatMap((form) =>
    [...text.matchAll(form)].map(([, first, second]) => first ?? second ?? ""),
  );

  const lists = [...text.matchAll(takenApart)].map(([, list = ""]) => list);
  const listed = lists
    .flatMap((list) => list.split(","))
    .flatMap((item) => /^\s*(\.{3}|\w+)/.exec(item)?.[1] ?? []);

  return { names: [...single, ...listed], reads: single.length + lists.length };
}

/**
 * Whether code newly reads variables that the person named, and nothing else. `newReads`: how many
 * reads of any form are new.
 */
export function readsOnlyNamed(
  before: string,
  after: string,
  newReads: number,
  words: string,
): boolean {
  const earlier = findNamedReads(before);
  const now = findNamedReads(after);
  if (now.reads - earlier.reads < newReads) return false; // some of them name no variable

  const named = new Set(words.match(/\w+/g));
  const added = now.names.filter((name) => !earlier.names.includes(name));

  return added.length > 0 && added.every((name) => named.has(name));
}
