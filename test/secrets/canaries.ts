// canaries: two hundred secrets, every form in which each could be written down, and a search that
// knows nothing of the redactor.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

export type Canary = { readonly name: string; readonly value: string };

const odd = ['"', "\\", "/", "&", "<", ">", "%", "+", "'", "=", "ü", " "];

/**
 * Of letters and digits, of everything that needs escaping, and of hex digits as the keys of many a
 * program are.
 */
export function canariesOf(seed: string, count: number): readonly Canary[] {
  return [...Array(count).keys()].map((n) => {
    const bytes = createHash("sha256").update(`${seed} ${n}`).digest();
    const plain = bytes.toString("base64url").slice(0, 12 + (n % 20));
    const escaped = Array.from(plain, (letter, at) =>
      at % 4 === 3 ? (odd[(n + at) % odd.length] ?? letter) : letter,
    ).join("");

    const value =
      n % 3 === 0
        ? plain
        : n % 3 === 1
          ? `k${escaped}z`
          : bytes.toString("hex").slice(0, 24 + (n % 17));

    return { name: `CANARY_${n}_TOKEN`, value };
  });
}

const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const unicode = (text: string): string =>
  [...Array(text.length).keys()]
    .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`)
    .join("");
const html = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");

/** Every form of a secret, whole: as somebody would write it. */
export function formsOf(value: string): Readonly<Record<string, string>> {
  const bytes = Buffer.from(value);
  const base64 = (before: string): string =>
    Buffer.concat([Buffer.from(before), bytes]).toString("base64");
  return {
    raw: value,
    base64: base64(""),
    "base64, one on": base64("x"),
    "base64, two on": base64("xy"),
    "base64, no padding": base64("").replaceAll("=", ""),
    base64url: bytes.toString("base64url"),
    hex: bytes.toString("hex"),
    HEX: bytes.toString("hex").toUpperCase(),
    url: encodeURIComponent(value),
    "url, whole": [...bytes]
      .map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`)
      .join(""),
    json: json(value),
    unicode: unicode(value),
    "json twice": json(json(value)),
    html: html(value),
    reversed: Array.from(value).toReversed().join(""),
  };
}

/**
 * What must not be found: each form less the characters at either end that other bytes have a part
 * in.
 */
function tracesOf(value: string): readonly string[] {
  const whole = Object.entries(formsOf(value));
  return [
    ...new Set(
      whole.map(([name, form]) => {
        const text = name.startsWith("base64")
          ? form.replace(/=+$/, "").slice(name.includes(" on") ? 4 : 0, -1)
          : form;
        return Buffer.from(text).toString("latin1");
      }),
    ),
  ];
}

/** How many there are to be found. */
export const tracesIn = (canaries: readonly Canary[]): number =>
  canaries.reduce((sum, { value }) => sum + tracesOf(value).length, 0);

export type Find = { readonly file: string; readonly canary: string };

/**
 * Every file below a folder that holds any form of any secret. `isOthers` names what is not the
 * runner's to write.
 */
export function findIn(
  folder: string,
  canaries: readonly Canary[],
  isOthers: (path: string) => boolean,
): readonly Find[] {
  const texts = filesIn(folder)
    .map((path) => ({ file: relative(folder, path), path }))
    .filter(({ file }) => !isOthers(file))
    .map(({ file, path }) => ({ file, text: `${file}\n${readFileSync(path).toString("latin1")}` }));
  return findInTexts(texts, canaries);
}

export function findInTexts(
  texts: readonly { readonly file: string; readonly text: string }[],
  canaries: readonly Canary[],
): readonly Find[] {
  const all = texts.map(({ text }) => text).join("\n");
  return canaries.flatMap(({ name, value }) =>
    tracesOf(value)
      .filter((trace) => all.includes(trace))
      .flatMap((trace) =>
        texts
          .filter(({ text }) => text.includes(trace))
          .map(({ file }) => ({ file, canary: `${name}: ${trace}` })),
      ),
  );
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
