import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Entry } from "../../contracts/event.ts";
import { runView } from "../../views/run-view.test-support.ts";
import { toSlug } from "../../workspace/layers/folder-records.ts";
import { freeForFullDisk, openEndedFolders } from "./ended-folders.ts";
import { endedTurn } from "./ended-turn.test-support.ts";
import { openTurnReceipts } from "./turn-receipts.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ended-"));
  for (const path of [
    "layers/a/f",
    "checks/check/f",
    "worlds/checks-check/upper/f",
    "apart/a/upper/f",
    "records/layers/a.json",
    "records/checks/check.json",
    "home/x/f",
    "aside/a.patch",
    "journal.jsonl",
  ]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), "x");
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const names = (path: string): readonly string[] => readdirSync(join(folder, path));
const ended = { event: "phase_completed" } as Entry;
const attempt = { "1@1/do#1": {} } as never;

test("what a phase worked in goes with its end, the record before its folder", async () => {
  const folders = openEndedFolders(folder);
  folders.onEntry(ended, runView({ status: "running" }));
  expect(
    ["layers", "checks", "worlds", "apart", "records/layers", "records/checks"].flatMap(names),
  ).toEqual([]);

  expect(names("home")).toEqual(["x"]);
  await folders.close(runView({ status: "paused" }));
  expect([names("trash"), names("home"), names("aside")]).toEqual([[], ["x"], ["a.patch"]]);
});

test("the past that every phase starts from goes with the run only, what a phase added to it before", async () => {
  const past = "a".repeat(40);
  for (const name of [past, `${past}-${"b".repeat(40)}`]) {
    mkdirSync(join(folder, "histories", name), { recursive: true });
  }

  const folders = openEndedFolders(folder);
  folders.onEntry(ended, runView({ status: "running" }));
  expect(names("histories")).toEqual([past]);
  await folders.close(runView({ status: "completed" }));
  expect(names("histories")).toEqual([]);
});

test("nothing goes while an attempt is open, or at anything but a phase's end", () => {
  const folders = openEndedFolders(folder);
  folders.onEntry(ended, runView({ status: "running", open: attempt }));
  folders.onEntry({ event: "step_completed" } as Entry, runView({ status: "running" }));
  expect([names("layers"), names("checks"), names("records/layers")]).toEqual([
    ["a"],
    ["check"],
    ["a.json"],
  ]);
});

test("at a run's end only what tells about it stays", async () => {
  await openEndedFolders(folder).close(runView({ status: "completed" }));
  expect(["layers", "checks", "worlds", "apart", "trash"].flatMap(names)).toEqual([]);
  expect(existsSync(join(folder, "home"))).toBe(false);
  expect([existsSync(join(folder, "journal.jsonl")), names("aside")]).toEqual([true, ["a.patch"]]);
});

test("for room, copies for checks go first, and what agents work on only if that was not enough", async () => {
  await freeForFullDisk(folder, () => true);
  expect([
    names("layers"),
    names("worlds"),
    names("records/checks"),
    existsSync(join(folder, "checks")),
  ]).toEqual([["a"], [], [], false]);

  await freeForFullDisk(folder, () => false);
  expect([names("layers"), names("records/layers"), existsSync(join(folder, "home"))]).toEqual([
    [],
    [],
    false,
  ]);

  expect(existsSync(join(folder, "journal.jsonl"))).toBe(true);
});

test("for room, what a turn that has ended made stays, until its run is over", async () => {
  const receipts = openTurnReceipts(folder);
  const slug = toSlug("1@1/do#1");
  for (const name of [slug, toSlug("1@1/do#2")]) {
    for (const path of [
      `layers/${name}/f`,
      `worlds/layers-${name}-0/delta/f`,
      `apart/${name}-0-1/upper/f`,
      `records/layers/${name}.json`,
    ]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), "x");
    }
  }

  for (const attempt of ["1@1/do#1", "1@1/do#2"]) receipts.reserve(attempt);
  receipts.keep("1@1/do#1", endedTurn("1@1/do#1"));
  await freeForFullDisk(folder, () => false);
  expect([names("layers"), names("records/layers"), names("records/turns")]).toEqual([
    [slug],
    [`${slug}.json`],
    [slug],
  ]);

  expect([names("worlds"), names("apart")]).toEqual([[`layers-${slug}-0`], [`${slug}-0-1`]]);
  await openEndedFolders(folder).close(runView({ status: "completed" }));
  expect(["layers", "worlds", "apart", "records/layers", "records/turns"].flatMap(names)).toEqual(
    [],
  );
});
