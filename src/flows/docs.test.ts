// docs/FLOWS.md is held to the language: its example is clean, and every word of the schema is
// explained.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Flow } from "../contracts/flow.ts";
import { findingText } from "../kit/finding.ts";
import { isRefused, readLocated } from "../kit/located.ts";
import { lintFlow } from "./lint.ts";
import { placeholders } from "./prompt.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "FLOWS.md"), "utf8");
const blockOf = (language: string): string =>
  page.split(`\`\`\`${language}\n`)[1]?.split("\n```")[0] ?? "";

test("the complete example is clean", () => {
  const read = readLocated("flow.yaml", blockOf("yaml"), Flow);
  if (isRefused(read)) throw new Error(read.findings.map(findingText).join("\n"));

  const found = lintFlow({
    flow: read.value,
    positions: read.positions,
    prompts: { "tidy.md": blockOf("markdown") },
    registry: {
      run: ["land"],
      proof: [],
      readers: { phases: [], tasks: [] },
      schemas: ["progress"],
      checks: ["criteria", "project"],
    },
  });
  expect(found.map(findingText)).toEqual([]);
});

test("every word of the language stands in it", () => {
  const source = readFileSync(join(import.meta.dirname, "..", "contracts", "flow.ts"), "utf8");
  const words = new Set(
    [...source.matchAll(/^\s*(?:v\.strictObject\(\{ )?([a-z_]+): v\./gm)].map(
      (match) => match[1] ?? "",
    ),
  );
  expect(words.size).toBeGreaterThan(60);
  expect([...words].filter((word) => !new RegExp(`\\b${word}\\b`).test(page))).toEqual([]);
});

test("every placeholder stands in it", () => {
  expect(Object.keys(placeholders).filter((name) => !page.includes(`{${name}}`))).toEqual([]);
});
