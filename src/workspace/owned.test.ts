import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addIgnoreLines, ignoreLines } from "./owned.ts";

let room = "";
beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), "autopilot-owned-"));
});
afterEach(() => rmSync(room, { recursive: true, force: true }));
const exclude = (): string => readFileSync(join(room, "info/exclude"), "utf8");

test("the lines are added once, after what the user wrote", async () => {
  mkdirSync(join(room, "info"));
  writeFileSync(join(room, "info/exclude"), "mine");
  expect(await addIgnoreLines(room)).toEqual(ignoreLines);
  expect(exclude()).toBe(`mine\n# autopilot's own files\n${ignoreLines.join("\n")}\n`);
  const before = exclude();
  expect(await addIgnoreLines(room)).toEqual([]);
  expect(exclude()).toBe(before);
});

test("a repository without an exclude file gets one", async () => {
  await addIgnoreLines(room);
  expect(exclude()).toContain(".autopilot/*\n!.autopilot/config.yaml");
});

test("what only this machine knows of a roadmap's run is named line by line", async () => {
  await addIgnoreLines(room);
  expect(exclude()).toContain("# Autopilot runtime state\n.autopilot/state.json\n.autopilot/archive/\n.autopilot/diagnostics/\n");
});

test("a repository that has the older lines gets the missing ones, once", async () => {
  mkdirSync(join(room, "info"));
  writeFileSync(join(room, "info/exclude"), "# autopilot's own files\n.autopilot/*\n!.autopilot/config.yaml\n!.autopilot/flows/\n");
  expect(await addIgnoreLines(room)).toEqual(ignoreLines);
  expect(await addIgnoreLines(room)).toEqual([]);
});
