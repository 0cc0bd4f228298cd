import {
  chmodSync,
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addIgnoreLines, ignoreLines } from "./owned-paths.ts";

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
  expect(exclude()).toContain(
    "# Autopilot runtime state\n.autopilot/state.json\n.autopilot/archive/\n.autopilot/diagnostics/\n",
  );
});

test("a repository that has the older lines gets the missing ones, once", async () => {
  mkdirSync(join(room, "info"));
  writeFileSync(
    join(room, "info/exclude"),
    "# autopilot's own files\n.autopilot/*\n!.autopilot/config.yaml\n!.autopilot/flows/\n",
  );

  expect(await addIgnoreLines(room)).toEqual(ignoreLines);
  expect(await addIgnoreLines(room)).toEqual([]);
});

test("the user's file keeps its mode and every byte that is no UTF-8", async () => {
  mkdirSync(join(room, "info"));
  const own = join(room, "info/exclude");
  const bytes = Buffer.from([0x66, 0xfc, 0x72, 0x0a]); // "für" as an old file system spells it
  writeFileSync(own, bytes);
  chmodSync(own, 0o664);
  await addIgnoreLines(room);
  expect((statSync(own).mode & 0o777).toString(8)).toBe("664");
  expect(readFileSync(own).subarray(0, 4)).toEqual(bytes);
  expect(readFileSync(own, "latin1")).toContain("\n.autopilot/*\n");
});

test("a link in its place, or in its folder's, is not written through", async () => {
  const own = join(room, ".profile");
  writeFileSync(own, "mine\n");
  mkdirSync(join(room, "info"));
  symlinkSync(own, join(room, "info/exclude"));
  expect(await addIgnoreLines(room)).toEqual([]);
  expect(readFileSync(own, "utf8")).toBe("mine\n");
  const elsewhere = mkdtempSync(join(room, "elsewhere-"));
  const other = mkdtempSync(join(room, "other-"));
  symlinkSync(elsewhere, join(other, "info"));
  expect(await addIgnoreLines(other)).toEqual([]);
  expect(readdirSync(elsewhere)).toEqual([]);
});
