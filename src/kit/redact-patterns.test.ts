import { describe, expect, test } from "vitest";
import { openRedactor } from "./redact.ts";
import { secretPatterns } from "./redact-patterns.ts";
import { openRedactedStream } from "./redact-stream.ts";

const { text: redact } = openRedactor([]);
// Put together here, so that no scanner takes this file for a leak.
const filler = (length: number): string => "aB3dE5gH7jK9".repeat(30).slice(0, length);
const jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "SflKxwRJSMeKKF2QT4fwpM"].join(
  ".",
);
const pem = (kind: string): string =>
  `-----BEGIN ${kind}-----\n${`${filler(64)}\n`.repeat(20)}-----END ${kind}-----`;

const leaks: [what: string, leak: string, clean?: string][] = [
  ["a model provider's key", `sk-ant-api03-${filler(90)}`],
  ["a model provider's key", `sk-proj-${filler(40)}_-${filler(20)}`],
  ["a model provider's plain key", `sk-${filler(48)}`],
  ["a GitHub token", `ghp_${filler(36)}`],
  ["a GitHub token", `gho_${filler(36)}`],
  ["a GitHub fine-grained token", `github_pat_${filler(22)}_${filler(59)}`],
  ["a GitLab token", `glpat-${filler(20)}`],
  ["a Slack token", `xoxb-123456789012-${filler(24)}`],
  ["an AWS key id", ["AKIA", "IOSFODNN7EXAMPLE"].join("")],
  ["a Google key", `AIza${filler(35)}`],
  ["an npm token", `npm_${filler(36)}`],
  ["a Hugging Face token", `hf_${filler(34)}`],
  ["a payment key", `sk_live_${filler(24)}`],
  ["a JSON web token", jwt],
  ["a private key", pem("RSA PRIVATE KEY")],
  ["a private key", pem("OPENSSH PRIVATE KEY")],
  ["a private key", pem("PGP PRIVATE KEY BLOCK")],
  ["a private key", pem("PRIVATE KEY").replaceAll("\n", "\\n")],
  ["a private key", pem("EC PRIVATE KEY").slice(0, 700)],
  ["an Authorization header", "Authorization: Bearer abcdefgh", "Authorization: Bearer [redacted]"],
  [
    "an Authorization header",
    `{"authorization": "Basic dXNlcjpwYXNz"}`,
    `{"authorization": "Basic [redacted]"}`,
  ],
  ["a bearer token", `bearer ${filler(30)}`, "bearer [redacted]"],
  ["an API key header", `x-api-key: ${filler(30)}`, "x-api-key: [redacted]"],
  ["an API key header", `X-Api-key: ${filler(30)}`, "X-Api-key: [redacted]"],
  ["a bearer token", `BeareR ${filler(30)}`, "BeareR [redacted]"],
  [
    "a password in a URL",
    "postgres://app:hunter2@db.example:5432/x",
    "postgres://app:[redacted]@db.example:5432/x",
  ],
  [
    "a token in a URL",
    `https://${filler(30)}@example.com/x.git`,
    "https://[redacted]@example.com/x.git",
  ],
];

describe("a secret that nobody named", () => {
  test.each(leaks)("is known by its looks: %s", (_, leak, clean = "[redacted]") => {
    expect(redact(`found ${leak}, here`)).toBe(`found ${clean}, here`);
    expect(redact(redact(leak))).toBe(redact(leak));
  });

  test("every look is tried by at least one of these", () => {
    expect(new Set(leaks.map(([what]) => what))).toEqual(
      new Set(secretPatterns.map(({ kind }) => kind)),
    );
  });

  test.each(leaks.filter(([, leak]) => leak.length > 20))(
    "is known in a stream of small chunks: %s",
    (_, leak, clean = "[redacted]") => {
      const stream = openRedactedStream(openRedactor([]));
      const text = `${"x ".repeat(20_000)}${leak}${" y".repeat(20_000)}`;
      const out: Buffer[] = [];

      for (let index = 0; index < text.length; index += 97) {
        out.push(stream.push(Buffer.from(text.slice(index, index + 97))));
      }

      const all = Buffer.concat([...out, stream.end()]).toString();
      expect(all.replace(/^(?:x ){20000}/, "").replace(/(?: y){20000}$/, "")).toBe(clean);
    },
  );
});

test.each([
  "a3f5c1d2e4b6978012345678901234567890abcd",
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "123e4567-e89b-12d3-a456-426614174000",
  "run-2026-01-02-030405",
  "2026-01-02T03:04:05.678Z",
  "1@1/execute#1",
  "block:1@1/review#1",
  Buffer.from("an ordinary sentence, written in base64, is not a secret").toString("base64"),
  Buffer.from('{"some":"json","that":"is no token"}').toString("base64"),
  "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
  "task-force-with-a-long-kebab-case-name-of-things",
  "risk-assessment-2024-final-version",
  "npm_config_registry and npm_lifecycle_event",
  "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
  "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
  "the bearer of this letter and authorization: see section 4",
  "https://example.com/a:b@c and mailto:somebody@example.com and git@github.com:owner/name.git",
  "postgres://app:$PASSWORD@db and https://user:<password>@host and https://x:***@host",
  "ssh://git@example.com:22/owner/repo",
  "const pattern = /^sk-/; // keys begin with sk-ant or sk-proj",
  "AKIA is a prefix, AIza too",
])("what only looks a little like one stays: %s", (text) => {
  expect(redact(text)).toBe(text);
});
