// redaction-names: decides which environment variables are secrets, by name and by value. Pure.

/** Words of a variable's name that mark a secret, as a whole part between underscores. */
const secretWords: ReadonlySet<string> = new Set([
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
  "PASSWD",
  "PASSWORD",
  "PASSWORDS",
  "PAT",
  "PRIVATE",
  "PWD",
  "SALT",
  "SECRET",
  "SECRETS",
  "TOKEN",
  "TOKENS",
  "WEBHOOK",
]);
/** Words that are long enough to count anywhere in a name. */
const secretNamePattern = /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY|COOKIE|KEY$/;
/** Names with such a word that are not secrets. */
const harmlessNames: ReadonlySet<string> = new Set([
  "PWD",
  "OLDPWD",
  "SSH_AUTH_SOCK",
  "GIT_ASKPASS",
  "SSH_ASKPASS",
]);

export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  return (
    !harmlessNames.has(upper) &&
    (secretNamePattern.test(upper) ||
      upper.split(/[^A-Z0-9]+/).some((word) => secretWords.has(word)))
  );
}

export type SecretStrength = "secret" | "weak" | "none";

/**
 * Judges the value of a variable with a secret's name. `weak`: it can't be distinguished from
 * ordinary text, so it can't be redacted. `none`: it isn't a secret but a switch, a number or a
 * file's name.
 */
export function judgeSecret(
  value: string,
  exists: (path: string) => boolean,
  charsMin: number,
): SecretStrength {
  const text = value.trim();
  if (
    text === "" ||
    /^(?:true|false|yes|no|on|off|none|null|undefined|enabled|disabled|auto|default)$/i.test(text)
  ) {
    return "none";
  }

  if (/^[+-]?[\d.,:_]+$/.test(text) && text.length < 2 * charsMin) return "none";
  if (
    /^(?:\/|~\/|\.\.?\/|file:)/.test(text) &&
    text.split(":").every((part) => part === "" || isPath(part, exists))
  ) {
    return "none";
  }

  return text.length < charsMin || isPlainWord(text) ? "weak" : "secret";
}

const isPath = (part: string, exists: (path: string) => boolean): boolean =>
  part === "file" || exists(part.replace(/^\/\/\//, "/"));

/**
 * One word of everyday length, or two with a mark between them: redacting it would damage ordinary
 * text.
 */
const isPlainWord = (text: string): boolean =>
  /^[A-Za-z]{1,12}(?:[ _.-][A-Za-z]{1,12})?$/.test(text) && !/[a-z][A-Z]/.test(text);

/**
 * The secrets inside a value, whatever its variable is called, each encoded and decoded: passwords
 * and tokens in URLs (`postgres://user:password@host/db`), and values that a key in it marks as one
 * (`authorization=Bearer x`, `host=h password=p`, `Server=s;Pwd=p`, `?api_key=k`). In a list of
 * headers a long value counts whatever its key is.
 */
export function findSecretParts(name: string, value: string): readonly string[] {
  if (value.length > compositeCharsMax) return [];
  const parts: string[] = [];

  for (const [, password = "", token = ""] of value.matchAll(urlCredentialsPattern)) {
    parts.push(password, token);
  }

  const isHeaders = /HEADERS?$/i.test(name);
  for (const [, key = "", quoted, bare] of value.matchAll(keyValuePattern)) {
    const text = (quoted ?? bare ?? "").trim();
    for (const spelling of new Set([text, decodeOrKeep(text)])) {
      const [, scheme = "", rest = ""] =
        /^(bearer|basic|token|apikey)[ ]+(\S+)$/i.exec(spelling) ?? [];
      if (/^basic$/i.test(scheme)) {
        parts.push(rest, readBasicPassword(rest));
      } else if (scheme !== "") {
        parts.push(rest);
      } else if (isSecretName(key) || /authorization|authtoken|^pwd$/i.test(key)) {
        parts.push(spelling);
      } else if (isHeaders && spelling.length >= headerCharsMin && /\d/.test(spelling)) {
        parts.push(spelling);
      }
    }
  }

  return [...new Set(parts.flatMap((spelling) => [spelling, decodeOrKeep(spelling)]))].filter(
    (spelling) => spelling !== "",
  );
}

const compositeCharsMax = 16 * 1024;
const headerCharsMin = 12;
/** `postgres://user:password@host`, or `https://token@host` with a long token. */
const urlCredentialsPattern =
  /[a-z][a-z0-9+.-]{1,20}:\/\/(?:[^\s/:@,;]{0,256}:([^\s@/]{1,1024}|[^\s@]{1,1024})@|([A-Za-z0-9_-]{20,1024})@)/gi;
/**
 * A key, = or :, and a value up to a comma, semicolon, ampersand or blank; a scheme's own blank is
 * part of it.
 */
const keyValuePattern =
  /(?:^|[,;&?\s{])\s{0,4}["']?([A-Za-z][\w.-]{0,127})["']?\s{0,4}[=:](?!\/\/)\s{0,4}(?:["']([^"']{1,4096})["']|((?:(?:bearer|basic|token|apikey)[ ]+)?[^\s,;&"']{1,4096}))/gi;

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The password in the base64 of `user:password`; empty if there is none. */
function readBasicPassword(text: string): string {
  const plain = Buffer.from(text, "base64").toString("utf8");
  return plain.includes(":") ? plain.slice(plain.indexOf(":") + 1) : "";
}
