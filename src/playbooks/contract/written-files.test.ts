// Every file the runner writes has a format that validate knows, and nothing else can be written.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findFormatByName } from "./formats.ts";
import { appendToFile, writeWholeFile } from "./whole-file.ts";
import { mayWrite, writtenFiles } from "./written-files.ts";

const root = mkdtempSync(join(tmpdir(), "autopilot-written-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test.each(writtenFiles)("$example is a $format to validate", ({ path, format, example }) => {
  expect(path.test(example)).toBe(true);
  // An archived state has its run's name; what is in it says what it is.
  expect(findFormatByName(example)).toBe(/archive\/run-/.test(example) ? null : format);
});

test.each([
  ".planning/phases/1/NOTES.md",
  ".autopilot/summary.json",
  "quality/EXTRA.md",
  "_docs/notes.md",
])("%s cannot be written", async (path) => {
  expect(mayWrite(path)).toBe(false);
  await expect(writeWholeFile(root, path, "x")).rejects.toThrow("written-files");
  await expect(appendToFile(root, path, "x")).rejects.toThrow("written-files");
  expect(readdirSync(root)).toEqual([]);
});
