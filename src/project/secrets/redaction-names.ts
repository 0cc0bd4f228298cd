// redaction-names: which environment variables are secrets, by name and by value. Pure.

/** Words of a variable's name that mark a secret, as a whole part between underscores. */
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
/** Those long enough to count anywhere in the name. */
const secretNamePattern = /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY|COOKIE|KEY$/;
/** Names with such a word that are not secrets. */
const others: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "SSH_AUTH_SOCK", "GIT_ASKPASS", "SSH_ASKPASS"]);

export function namesSecret(name: string): boolean {
  const upper = name.toUpperCase();
  return !others.has(upper) && (secretNamePattern.test(upper) || upper.split(/[^A-Z0-9]+/).some((word) => words.has(word)));
}

export type SecretStrength = "secret" | "weak" | "none";

/**
 * The kind of a value under such a name: a secret; one too weak to be distinguished from ordinary text, so that it cannot be redacted; or
 * no secret at all, such as a switch, a number or a file's name.
 */
export function secretStrength(value: string, isThere: (path: string) => boolean, charsMin: number): SecretStrength {
  const text = value.trim();
  if (text === "" || /^(?:true|false|yes|no|on|off|none|null|undefined|enabled|disabled|auto|default)$/i.test(text)) return "none";
  if (/^[+-]?[\d.,:_]+$/.test(text) && text.length < 2 * charsMin) return "none";
  if (/^(?:\/|~\/|\.\.?\/|file:)/.test(text) && text.split(":").every((part) => part === "" || isPath(part, isThere))) return "none";
  return text.length < charsMin || isPlainWord(text) ? "weak" : "secret";
}

const isPath = (part: string, isThere: (path: string) => boolean): boolean => part === "file" || isThere(part.replace(/^\/\/\//, "/"));

/** One word of everyday length, or two with a mark between them: redacting it would damage ordinary text. */
const isPlainWord = (text: string): boolean => /^[A-Za-z]{1,12}(?:[ _.-][A-Za-z]{1,12})?$/.test(text) && !/[a-z][A-Z]/.test(text);

/**
 * The secrets inside a value, whatever its variable is called, each encoded and decoded: passwords and tokens in URLs
 * (`postgres://user:password@host/db`), and values that a key in it marks as one (`authorization=Bearer x`, `host=h password=p`,
 * `Server=s;Pwd=p`, `?api_key=k`). In a list of headers a long value counts whatever its key is.
 */
export function partsOf(name: string, value: string): readonly string[] {
  if (value.length > compositeCharsMax) return [];
  const found: string[] = [];
  for (const [, password = "", token = ""] of value.matchAll(inAddress)) found.push(password, token);
  const isHeaders = /HEADERS?$/i.test(name);
  for (const [, key = "", quoted, bare] of value.matchAll(pair)) {
    const text = (quoted ?? bare ?? "").trim();
    for (const spelling of new Set([text, decoded(text)])) {
      const [, scheme = "", rest = ""] = /^(bearer|basic|token|apikey)[ ]+(\S+)$/i.exec(spelling) ?? [];
      if (scheme !== "") found.push(rest, ...(/^basic$/i.test(scheme) ? [userPassword(rest)] : []));
      else if (namesSecret(key) || /authorization|authtoken|^pwd$/i.test(key)) found.push(spelling);
      else if (isHeaders && spelling.length >= headerCharsMin && /\d/.test(spelling)) found.push(spelling);
    }
  }
  return [...new Set(found.flatMap((spelling) => [spelling, decoded(spelling)]))].filter((spelling) => spelling !== "");
}

const compositeCharsMax = 16 * 1024;
const headerCharsMin = 12;
const inAddress = /[a-z][a-z0-9+.-]{1,20}:\/\/(?:[^\s/:@,;]{0,256}:([^\s@/]{1,1024}|[^\s@]{1,1024})@|([A-Za-z0-9_-]{20,1024})@)/gi;
/** A key, = or :, and a value up to a comma, semicolon, ampersand or blank; a scheme's own blank is part of it. */
const pair =
  /(?:^|[,;&?\s{])\s{0,4}["']?([A-Za-z][\w.-]{0,127})["']?\s{0,4}[=:](?!\/\/)\s{0,4}(?:["']([^"']{1,4096})["']|((?:(?:bearer|basic|token|apikey)[ ]+)?[^\s,;&"']{1,4096}))/gi;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The password of `user:password` in base64; empty if it is none. */
function userPassword(text: string): string {
  const plain = Buffer.from(text, "base64").toString("utf8");
  return plain.includes(":") ? plain.slice(plain.indexOf(":") + 1) : "";
}
