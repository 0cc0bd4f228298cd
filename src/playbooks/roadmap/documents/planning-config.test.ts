import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { decodeDocument, documentTextBytesMax } from "../../../documents/document-text.ts";
import { parsePlanningConfig } from "./planning-config.ts";
import { chooseSpec, listSpecCandidates, hashSpec, describeMismatch } from "../files/spec.ts";

const file = ".planning/config.json";
const broken = readFileSync(
  resolve(import.meta.dirname, "../../../../test/fixtures/roadmap/config-broken.json"),
);

test("a config with keys of other tools is read, and our fields come out of it", () => {
  const text = JSON.stringify({
    depth: "comprehensive",
    theirs: [1],
    workflow: { research: false, more: 1 },
    project: { spec_paths: ["docs/a.md"], commands: { test: null } },
  });
  const read = parsePlanningConfig(file, text);
  expect(
    "config" in read && [
      read.config.workflow?.research,
      read.config.project?.spec_paths,
      read.config.project?.commands?.test,
    ],
  ).toEqual([false, ["docs/a.md"], null]);
});

test("an empty file says nothing, and a byte order mark is no fault", () => {
  expect(parsePlanningConfig(file, " \n")).toEqual({ config: {} });
  expect(parsePlanningConfig(file, '\ufeff{"mode":"x"}')).toEqual({ config: { mode: "x" } });
});

test("wrong types are told with their lines, all at once", () => {
  const read = parsePlanningConfig(file, broken);
  expect(
    "findings" in read && read.findings.map(({ line, path, rule }) => `${line} ${path} ${rule}`),
  ).toEqual([
    "5 workflow.research wrong_type",
    "8 project.spec_paths[1] wrong_type",
    "8 project.spec_paths[2] wrong_value",
    "9 project.commands.test wrong_type",
    "11 circuit_breaker_config.cooldown_minutes wrong_type",
  ]);
});

test("a breaker that would open before the first turn, or for ever, is told", () => {
  const breaker = {
    no_progress_threshold: 0,
    same_error_threshold: 0,
    cooldown_minutes: 1e300,
    max_debug_attempts_per_phase: 0,
  };

  const read = parsePlanningConfig(file, JSON.stringify({ circuit_breaker_config: breaker }));
  expect(
    "findings" in read && read.findings.map(({ path, rule }) => `${path} ${rule}`).sort(),
  ).toEqual([
    "circuit_breaker_config.cooldown_minutes wrong_value",
    "circuit_breaker_config.no_progress_threshold wrong_value",
    "circuit_breaker_config.same_error_threshold wrong_value",
  ]);
});

test("what is no JSON, or no mapping, is told with its place", () => {
  for (const text of ['{\n "mode": x }', "[]", "5", '{"a":1,"a":2}']) {
    expect(parsePlanningConfig(file, text)).toHaveProperty("findings");
  }
});

test("the spec is the first there is: the configured ones, then REQUIREMENTS, PROJECT, ROADMAP", () => {
  const candidates = listSpecCandidates(
    { project: { spec_paths: ["./docs/a.md", "docs/b.md"] } },
    "ROADMAP.md",
  );
  expect(candidates).toEqual([
    "docs/a.md",
    "docs/b.md",
    ".planning/REQUIREMENTS.md",
    ".planning/PROJECT.md",
    ".planning/ROADMAP.md",
    "ROADMAP.md",
  ]);

  expect(chooseSpec(candidates, (path) => path.endsWith("b.md") || path.includes("PROJECT"))).toBe(
    "docs/b.md",
  );

  expect(
    chooseSpec(listSpecCandidates({}, ".planning/ROADMAP.md"), (path) => path.includes("PROJECT")),
  ).toBe(".planning/PROJECT.md");

  expect(chooseSpec(candidates, () => false)).toBeNull();
});

test("the hash is of the bytes as they lie, and a mismatch names both", () => {
  const bytes = Buffer.from("# Spec\r\n");
  const hash = hashSpec(bytes);
  expect(hash).toBe(`sha256:${createHash("sha256").update("# Spec\r\n").digest("hex")}`);
  expect(hashSpec(Buffer.from("# Spec\n"))).not.toBe(hash);
  expect(describeMismatch("a.md", hash, hash)).toBeNull();
  expect(describeMismatch("a.md", hash, "sha256:0")).toMatch(new RegExp(`${hash}.*sha256:0`));
});

test("bytes that are no text, and too many of them, are told with their place", () => {
  const of = (bytes: Uint8Array) => {
    const read = decodeDocument("R.md", bytes);
    return "text" in read
      ? read.text
      : read.findings.map(({ line, column, rule }) => `${line}:${column} ${rule}`);
  };
  expect(of(Buffer.from("\ufeffa\r\nb"))).toBe("a\r\nb");
  expect(of(Buffer.from([0x61, 0x0a, 0x62, 0xff]))).toEqual(["2:2 not_utf8"]);
  expect(of(Buffer.from("a\nbc\0"))).toEqual(["2:3 not_text"]);
  expect(of(Buffer.alloc(documentTextBytesMax + 1, 32))).toEqual(["1:1 too_large"]);
});
