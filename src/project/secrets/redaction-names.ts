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
  if (harmlessNames.has(upper)) return false;
  if (secretNamePattern.test(upper)) return true;

  return upper.split(/[^A-Z0-9]+/).some((word) => secretWords.has(word));
}

const switchPattern =
  /^(?:true|false|yes|no|on|off|none|null|undefined|enabled|disabled|auto|default)$/i;
/** `8080`, `-1.5`, `12:30:00`, `1_000` */
const numberPattern = /^[+-]?[\d.,:_]+$/;
/** `/etc/key`, `~/key`, `./key`, `../key`, `file:///etc/key` */
const pathStartPattern = /^(?:\/|~\/|\.\.?\/|file:)/;

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
  if (text === "" || switchPattern.test(text)) return "none";
  if (numberPattern.test(text) && text.length < 2 * charsMin) return "none";

  if (pathStartPattern.test(text) && isPathList(text, exists)) return "none";

  return text.length < charsMin || isPlainWord(text) ? "weak" : "secret";
}

/** One path or several: `/usr/bin:/bin`, `file:///etc/key`. */
function isPathList(text: string, exists: (path: string) => boolean): boolean {
  return text
    .split(":")
    .every((part) => part === "" || part === "file" || exists(part.replace(/^\/\/\//, "/")));
}

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

  const isHeaders = /HEADERS?$/i.test(name);
  const parts: string[] = [];
  for (const [, password = "", token = ""] of value.matchAll(urlCredentialsPattern)) {
    parts.push(password, token);
  }

  for (const [, key = "", quoted, bare] of value.matchAll(keyValuePattern)) {
    const text = (quoted ?? bare ?? "").trim();
    parts.push(...findSecretsOfKey(key, text, isHeaders));
    parts.push(...findSecretsOfKey(key, decodeOrKeep(text), isHeaders));
  }

  const spellings = parts.flatMap((part) => [part, decodeOrKeep(part)]);
  return [...new Set(spellings)].filter((spelling) => spelling !== "");
}

/** The secrets in the value of one key: `authorization`, `Basic dXNlcjpwYXNz`. */
function findSecretsOfKey(key: string, text: string, isHeaders: boolean): readonly string[] {
  const [, scheme = "", credentials = ""] =
    /^(bearer|basic|token|apikey)[ ]+(\S+)$/i.exec(text) ?? [];
  if (/^basic$/i.test(scheme)) return [credentials, readBasicPassword(credentials)];
  if (scheme !== "") return [credentials];

  const isSecretKey = isSecretName(key) || /authorization|authtoken|^pwd$/i.test(key);
  const isLongHeader = isHeaders && text.length >= headerCharsMin && /\d/.test(text);
  return isSecretKey || isLongHeader ? [text] : [];
}

const compositeCharsMax = 16 * 1024;
const headerCharsMin = 12;

/** `user:password@`, or `:password@`; with a slash in it only if nothing else fits. */
const passwordPart = String.raw`[^\s/:@,;]{0,256}:([^\s@/]{1,1024}|[^\s@]{1,1024})@`;
const longTokenPart = String.raw`([A-Za-z0-9_-]{20,1024})@`;
/** `postgres://user:password@host`, or `https://token@host` with a long token. */
const urlCredentialsPattern = new RegExp(
  String.raw`[a-z][a-z0-9+.-]{1,20}://(?:${passwordPart}|${longTokenPart})`,
  "gi",
);

/** A key, perhaps in quotes, after the start, a separator or a blank: `; "password"` */
const keyPart = String.raw`(?:^|[,;&?\s{])\s{0,4}["']?([A-Za-z][\w.-]{0,127})["']?`;
/** `=` or `:`, but not the one of `https://`. */
const equalsPart = String.raw`\s{0,4}[=:](?!//)\s{0,4}`;
const quotedPart = String.raw`["']([^"']{1,4096})["']`;
/** Up to a comma, semicolon, ampersand or blank; a scheme's own blank is part of it: `Bearer x` */
const barePart = String.raw`((?:(?:bearer|basic|token|apikey)[ ]+)?[^\s,;&"']{1,4096})`;
const keyValuePattern = new RegExp(`${keyPart}${equalsPart}(?:${quotedPart}|${barePart})`, "gi");

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
