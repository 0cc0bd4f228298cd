// redaction-names: which variables of an environment hold a secret, by what they are called and by what they hold. Pure.

/** Words of a variable's name that say so, by themselves between underscores. */
const words: ReadonlySet<string> = new Set(
  [
    "AUTH",
    "OAUTH",
    "BEARER",
    "COOKIE",
    "COOKIES",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
    "KEY",
    "KEYS",
    "PASS",
    "PASSPHRASE",
  ].concat(["PASSWD", "PASSWORD", "PASSWORDS", "PAT", "PRIVATE", "PWD", "SALT", "SECRET", "SECRETS", "TOKEN", "TOKENS", "WEBHOOK"]),
);
/** And those long enough to be meant wherever they stand. */
const wordsAnywhere = /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY|COOKIE|KEY$/;
/** Names with such a word that hold something else. */
const others: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "SSH_AUTH_SOCK", "GIT_ASKPASS", "SSH_ASKPASS"]);

export function namesSecret(name: string): boolean {
  const upper = name.toUpperCase();
  return !others.has(upper) && (wordsAnywhere.test(upper) || upper.split(/[^A-Z0-9]+/).some((word) => words.has(word)));
}

export type Worth = "secret" | "weak" | "none";

/**
 * What a value under such a name is worth: a secret; one too weak to be told from ordinary text, so that it cannot be redacted; or no secret
 * at all, such as a switch, a number or a file's name.
 */
export function worthOf(value: string, isThere: (path: string) => boolean, charsMin: number): Worth {
  const text = value.trim();
  if (text === "" || /^(?:true|false|yes|no|on|off|none|null|undefined|enabled|disabled|auto|default)$/i.test(text)) return "none";
  if (/^[+-]?[\d.,:_]+$/.test(text) && text.length < 2 * charsMin) return "none";
  if (/^(?:\/|~\/|\.\.?\/|file:)/.test(text) && text.split(":").every((part) => part === "" || isPath(part, isThere))) return "none";
  return text.length < charsMin || isPlainWord(text) ? "weak" : "secret";
}

const isPath = (part: string, isThere: (path: string) => boolean): boolean => part === "file" || isThere(part.replace(/^\/\/\//, "/"));

/** One word of everyday length, or two with a mark between them: it would be struck out of every sentence. */
const isPlainWord = (text: string): boolean => /^[A-Za-z]{1,12}(?:[ _.-][A-Za-z]{1,12})?$/.test(text) && !/[a-z][A-Z]/.test(text);

/** The password in an address such as `postgres://user:password@host/db`, as it is written and as it is meant; whatever the variable is called. */
export function passwordsIn(value: string): readonly string[] {
  const found = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s@]+)@/i.exec(value.trim())?.[1];
  if (found === undefined) return [];
  try {
    return [...new Set([found, decodeURIComponent(found)])];
  } catch {
    return [found];
  }
}
