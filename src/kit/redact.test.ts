import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openRedactor } from "./redact.ts";
import { openRedactedStream, redactBytes } from "./redact-stream.ts";
import { redactEvent, redactValue } from "./redact-value.ts";
import { isLong, tries } from "../../test/support/sampled.ts";
import { anyCharacter } from "../../test/support/any-character.ts";

const value = `p@ss "w/örd" <7>+\\x&é'Zq9`;
const redactor = openRedactor([
  { name: "DB_PASSWORD", value },
  { name: "API_TOKEN", value: "Zx81kQ-vv02_Lm4" },
]);

const bytes = Buffer.from(value);
const percent = (upper: boolean): string =>
  [...bytes]
    .map(
      (byte) =>
        `%${upper ? byte.toString(16).padStart(2, "0").toUpperCase() : byte.toString(16).padStart(2, "0")}`,
    )
    .join("");
const unicode = (text: string): string =>
  [...Array(text.length).keys()]
    .map((position) => `\\u${text.charCodeAt(position).toString(16).padStart(4, "0")}`)
    .join("");
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const html = value
  .replaceAll("&", "&amp;")
  .replaceAll("<", "&lt;")
  .replaceAll(">", "&gt;")
  .replaceAll('"', "&quot;")
  .replaceAll("'", "&#39;");

const encodings: Readonly<Record<string, string>> = {
  raw: value,
  base64: bytes.toString("base64"),
  "base64 without padding": bytes.toString("base64").replaceAll("=", ""),
  "base64 one byte on": Buffer.concat([Buffer.from(":"), bytes, Buffer.from("!")]).toString(
    "base64",
  ),
  "base64 two bytes on": Buffer.concat([Buffer.from("u:"), bytes, Buffer.from("\n\n")]).toString(
    "base64",
  ),
  base64url: bytes.toString("base64url"),
  "base64 in lines": (bytes.toString("base64").match(/.{1,12}/g) ?? []).join("\n"),
  hex: bytes.toString("hex"),
  "hex in capitals": bytes.toString("hex").toUpperCase(),
  "URL, only what must be": encodeURIComponent(value),
  "URL, whole": percent(true),
  "URL, whole, small letters": percent(false),
  form: new URLSearchParams({ v: value }).toString().slice(2),
  JSON: json(value),
  "JSON in ASCII": json(value).replaceAll(/[\u0080-\uffff]/g, unicode),
  "JSON, every character": unicode(value),
  "JSON in JSON": json(json(value)),
  "every character, twice": json(unicode(value)),
  HTML: html,
  "HTML, every character": Array.from(
    value,
    (letter) => `&#x${(letter.codePointAt(0) ?? 0).toString(16)};`,
  ).join(""),
  "as C writes bytes": [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join(""),
  reversed: Array.from(value).toReversed().join(""),
  "with a colour in it": `${value.slice(0, 9)}\u001b[1;31m${value.slice(9)}`,
  "every character coloured": Array.from(value).join("\u001b[38;2;1;2;3m"),
  "with a link and a title in it": `${value.slice(0, 9)}\u001b]8;;https://x.invalid\u0007\u001b]0;t\u001b\\${value.slice(9)}`,
  "with characters of no width": Array.from(value).join("\u200b\ufeff"),
  "with letters typed and taken back": Array.from(value).join("k\u0008"),
  "with bare backspaces and NULs": Array.from(value).join("\u0000\u0008"),
  "coloured, and told as JSON": json(`${value.slice(0, 9)}\u001b[1;31m${value.slice(9)}`),
};

describe("a known secret", () => {
  test.each(Object.entries(encodings))(
    "is replaced by its name, and nothing of it is left: %s",
    (name, written) => {
      const clean = redactor.text(`before ${written} after`);
      // A base64 of something longer keeps what is not the secret's.
      const around =
        name.includes("on") && name.startsWith("base64 ")
          ? /^before .{0,4}\[redacted:DB_PASSWORD\].{0,6} after$/
          : null;
      if (around !== null) expect(clean).toMatch(around);
      else expect(clean).toBe("before [redacted:DB_PASSWORD] after");

      expect(redactor.text(clean)).toBe(clean);
    },
  );

  test.each(Object.entries(encodings))("is found in bytes cut anywhere: %s", (_, written) => {
    const whole = Buffer.from(`${"x".repeat(40_000)} ${written} ${"y".repeat(17_000)}`);
    const expected = Buffer.from(redactBytes(redactor, whole)).toString("latin1");
    expect(expected.includes(Buffer.from(written).toString("latin1"))).toBe(false);
    expect(expected.includes("[redacted:DB_PASSWORD]")).toBe(true);
    const start = 40_001;
    for (
      let cut = start;
      cut <= start + Buffer.byteLength(written);
      cut += 1 + Math.floor(written.length / (isLong ? 17 : 5))
    ) {
      const stream = openRedactedStream(redactor);
      const given = [
        whole.subarray(0, start - 30_000),
        whole.subarray(start - 30_000, cut),
        whole.subarray(cut),
      ].map(stream.push);
      expect(Buffer.concat([...given, stream.end()]).toString("latin1") === expected).toBe(true);
    }
  });

  test("is found byte by byte, and what is given out early never holds the beginning of it", () => {
    const stream = openRedactedStream(redactor);
    const text = `${"-".repeat(70_000)}${value}${"-".repeat(70_000)}`;
    let out = "";

    for (const byte of Buffer.from(text)) {
      out += stream.push(Uint8Array.of(byte)).toString("latin1");
    }

    out += stream.end().toString("latin1");
    expect(out.replaceAll(/-{70000}/g, "~")).toBe("~[redacted:DB_PASSWORD]~");
  });

  test("that is long, of many lines, or a line of one, is found too", () => {
    const long = [...Array(5_000).keys()]
      .map((n) => String.fromCharCode(97 + ((n * 7919) % 26)))
      .join("");

    const lines = "first line of the key 12345\nsecond line of the key 67890\n";
    const both = openRedactor([
      { name: "LONG", value: long },
      { name: "LINES", value: lines },
    ]);
    expect(both.text(`<${long}>`)).toBe("<[redacted:LONG]>");
    expect(both.text(`<${Buffer.from(`a${long}b`).toString("base64")}>`)).toMatch(
      /^<.{0,3}\[redacted:LONG\].{0,4}>$/,
    );

    expect(both.text(`<${Buffer.from(long).toString("hex")}>`)).toBe("<[redacted:LONG]>");
    expect(both.text("it was second line of the key 67890.")).toBe("it was [redacted:LINES].");
    expect(both.text(lines.replaceAll("\n", "\r\n    "))).not.toContain("of the key");
  });

  test("cut in half by whoever shortened the text is found where a text may have been cut, and only there", () => {
    const half = "the token is Zx81kQ-vv0";
    expect(redactor.excerpt(half)).toBe("the token is [redacted:API_TOKEN]");
    expect(redactor.excerpt("kQ-vv02_Lm4 was it")).toBe("[redacted:API_TOKEN] was it");
    expect(redactor.text(half)).toBe(half);
    expect(redactor.next("the token is Zx8", "1kQ-vv02_Lm4, you know")).toBe(
      "[redacted:API_TOKEN], you know",
    );

    expect(redactor.next("Zx81kQ-vv02_Lm4 was said", " before")).toBe(" before");
  });

  test("learnt later is redacted from then on, and one too short is refused", () => {
    const late = openRedactor([]);
    expect(late.text("Zx81kQ-vv02_Lm4")).toBe("Zx81kQ-vv02_Lm4");
    expect([
      late.learn({ name: "M", value: "Zx81kQ-vv02_Lm4" }),
      late.learn({ name: "S", value: "short" }),
    ]).toEqual([true, false]);

    expect(late.text("a Zx81kQ-vv02_Lm4 b short")).toBe("a [redacted:M] b short");
  });

  test("whatever it is made of, whatever stands around it, it does not come out", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 10, maxLength: 60, unit: anyCharacter }),
        fc.string(),
        fc.string(),
        (secret, before, after) => {
          fc.pre(secret.trim().length >= 8 && !/^(.{1,3})\1*$/u.test(secret));
          const item = openRedactor([{ name: "S", value: secret }]);
          const text = `${before}${secret}${after}`;
          const clean = item.text(text);
          expect(clean.includes(secret)).toBe(false);
          expect(item.text(JSON.stringify(text)).includes(json(secret))).toBe(false);
          expect(Buffer.from(redactBytes(item, Buffer.from(text))).includes(secret)).toBe(false);
        },
      ),
      { numRuns: tries(300) },
    );
  });
});

test.each([
  ["a GitHub token", `ghp_${"a1B2".repeat(9)}`],
  ["a model provider's key", "sk-ant-api03-Ab12Cd34Ef56Gh78Ij90Kl12Mn34"],
  ["an npm token", `npm_${"Z9y8".repeat(9)}`],
  ["a JSON web token", `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${"s1G".repeat(9)}`],
  ["a header", "authorization: Bearer q9W8e7R6t5Y4u3I2o1P0"],
  ["a password in an address", "postgres://app:S3cr3t-Pa55word-9x@db/x"],
  ["a known one", value],
])("%s that comes in two pieces, cut anywhere, leaves no part of it in either", (_, whole) => {
  for (const between of ["", "\u001b[0m", "\u200b"]) {
    for (let cut = 1; cut < whole.length; cut++) {
      const [first, rest] = [
        `it is ${whole.slice(0, cut)}${between}`,
        `${whole.slice(cut)} and so on`,
      ];
      const shown = redactor.excerpt(first) + redactor.next(first, rest);
      const secret = whole
        .replace(/^authorization: Bearer |^postgres:\/\/app:/, "")
        .replace(/@db\/x$/, "");

      const left = Array.from({ length: secret.length - 14 }, (_none, index) =>
        secret.slice(index, index + 15),
      ).filter((part) => shown.includes(part));

      expect({ cut, between, left }).toEqual({ cut, between, left: [] });
    }
  }
});

test("a port, a plain word and a finished sentence at the end of a piece are no beginning of a secret", () => {
  for (const text of [
    "see http://localhost:8080",
    "the bearer responsibilities",
    "npm_config",
    "task-sk-1",
    "hf_hub",
    "the end.",
  ]) {
    expect(redactor.excerpt(text)).toBe(text);
  }
});

test("what holds no secret is the very same afterwards: texts, events, bytes", () => {
  const event = {
    event: "turn_ended",
    attempt: "1@1/execute#1",
    said: "nothing %20 \\n &amp; here",
    usage: { tokens: 3 },
    paths: ["a", "b"],
  };
  expect(redactEvent(redactor.text, event)).toBe(event);
  const some = Buffer.from([0xff, 0x00, 0xc3, 0x28, 10, 37, 52, 49]);
  expect(redactBytes(redactor, some)).toBe(some);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (any) => redactBytes(redactor, any) === any),
  );
});

test("in an event every text is redacted, however deep, keys too; names and hashes that hold a run together are not", () => {
  const sha = "5d41402abc4b2a76b9719d911017c5925d414020";
  const odd = openRedactor([
    { name: "CACHE_KEY", value: sha },
    { name: "STEP_KEY", value: "1@1/execute#1" },
    { name: "T", value: "Zx81kQ-vv02_Lm4" },
    { name: "DIGITS", value: "9007199254740991" },
  ]);

  const event = {
    event: "turn_ended",
    attempt: "1@1/execute#1",
    layer: sha,
    prompts: { p: sha },
    said: `${sha} Zx81kQ-vv02_Lm4`,
    says: { "Zx81kQ-vv02_Lm4": [{ deep: "Zx81kQ-vv02_Lm4" }], n: 9_007_199_254_740_991, ok: true },
  };
  expect(redactEvent(odd.text, event)).toEqual({
    event: "turn_ended",
    attempt: "1@1/execute#1",
    layer: sha,
    prompts: { p: sha },
    said: "[redacted:CACHE_KEY] [redacted:T]",
    says: { "[redacted:T]": [{ deep: "[redacted:T]" }], n: "[redacted:DIGITS]", ok: true },
  });

  let nested: unknown = "Zx81kQ-vv02_Lm4";
  for (let depth = 0; depth < 3_000; depth++) nested = [nested];
  expect(JSON.stringify(redactValue(odd.text, nested))).not.toContain("Zx81");
});
