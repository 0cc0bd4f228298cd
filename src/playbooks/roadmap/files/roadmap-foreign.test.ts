// A state.json that no journal of ours accounts for: what is told of it, and what a run of ours
// begins with.

import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { seedState } from "../../../contracts/roadmap.test-support.ts";
import { findForeignRoadmap } from "./roadmap-foreign.ts";
import { clearRooms, room, type Room } from "./roadmap-room.test-support.ts";

afterEach(clearRooms);

const ours = "run-2026-05-05-101010";
const phase = seedState.phases["phase_6.1"];
const theirs = (status: string, changes: object = {}) =>
  JSON.stringify({
    ...seedState,
    _meta: { ...seedState._meta, status },
    spec: { ...seedState.spec, hash: `sha256:${"a".repeat(64)}` },
    phases: {
      "phase_6.1": phase,
      "phase_6.2": { ...phase, status: "in_progress", completed_at: null },
      "phase_6.10": {
        ...phase,
        status: "not_started",
        started_at: null,
        completed_at: null,
        steps: {},
      },
    },
    ...changes,
  });
const detected = (text: string, backup?: string): Room => {
  const here = room(ours);
  here.write(".autopilot/state.json", text);
  if (backup !== undefined) here.write(".autopilot/state.json.backup", backup);

  return here;
};

test("nothing here is nothing", async () =>
  expect(await findForeignRoadmap(room(ours).home)).toBeNull());

describe.each(["running", "paused", "failed"])("a run of another tool that says %s", (status) => {
  test("is told with where it stands, and goes on with the phases it has not completed, the one it stopped in and the spec it was locked to", async () => {
    const foreign = await findForeignRoadmap(detected(theirs(status)).home);
    expect(foreign).toMatchObject({
      flow: "roadmap",
      files: [".autopilot/state.json"],
      options: { phases: "6.2,6.10,6.3", spec_hash: `sha256:${"a".repeat(64)}` },
      findings: [],
    });

    expect(foreign?.summary).toContain(
      `${seedState._meta.run_id}, a roadmap's run of another tool`,
    );

    expect(foreign?.summary).toContain("in phase 6.3, step execute; 1 of 3 phases completed");
  });
});

test("one that is completed is not gone on with", async () =>
  expect(await findForeignRoadmap(detected(theirs("completed")).home)).toBeNull());
test("a state that a journal of ours accounts for is not another tool's", async () => {
  const here = detected(theirs("running"));
  mkdirSync(join(here.home.folder, "runs", seedState._meta.run_id), { recursive: true });
  writeFileSync(
    join(here.home.folder, "runs", seedState._meta.run_id, "journal.jsonl"),
    '{"seq":1}\n',
  );

  expect(await findForeignRoadmap(here.home)).toBeNull();
});
test("a state that lists no open phase is taken up as a whole", async () => {
  const foreign = await findForeignRoadmap(
    detected(theirs("running", { phases: { "phase_6.1": phase } })).home,
  );
  expect(foreign?.options["phases"]).toBe("all");
});

describe("damaged", () => {
  const good = theirs("paused");
  const damages: readonly (readonly [string, string, (here: Room) => void])[] = [
    ["torn", "syntax", (here) => here.write(".autopilot/state.json", good.slice(0, 400))],
    [
      "full of zero bytes",
      "syntax",
      (here) => here.write(".autopilot/state.json", "\0".repeat(1024)),
    ],
    ["a list", "wrong_type", (here) => here.write(".autopilot/state.json", "[]")],
    [
      "of the wrong types",
      "wrong_type",
      (here) =>
        here.write(".autopilot/state.json", good.replace('"status":"paused"', '"status":7')),
    ],
    [
      "of a gigabyte",
      "too_large",
      (here) => truncateSync(join(here.root, ".autopilot/state.json"), 1_073_741_824),
    ],
  ];
  test.each(damages)(
    "a state.json that is %s gives way to its backup, with a warning and no error",
    async (_, rule, damage) => {
      const here = detected(good, good);
      damage(here);
      const foreign = await findForeignRoadmap(here.home);
      expect(foreign).toMatchObject({
        files: [".autopilot/state.json.backup"],
        options: { phases: "6.2,6.10,6.3" },
      });

      expect(foreign?.findings.every(({ severity }) => severity === "warning")).toBe(true);
      expect(foreign?.findings.map((finding) => finding.rule)).toEqual(
        expect.arrayContaining([rule, "backup_used"]),
      );
    },
  );

  test.each(damages)(
    "one that is %s and has no backup is an error that names the file, and nothing is taken from it",
    async (_, rule, damage) => {
      const here = detected(good);
      damage(here);
      const foreign = await findForeignRoadmap(here.home);
      expect(foreign?.options).toEqual({});
      expect(
        foreign?.findings.some((finding) => finding.severity === "error" && finding.rule === rule),
      ).toBe(true);
    },
  );

  test("a link in its place is not followed", async () => {
    const here = room(ours);
    here.write("elsewhere.json", good);
    symlinkSync("../elsewhere.json", join(here.root, ".autopilot/state.json"));
    expect((await findForeignRoadmap(here.home))?.findings[0]).toMatchObject({
      rule: "link",
      severity: "error",
    });
  });

  test("a folder in its place is told", async () => {
    const here = room(ours);
    mkdirSync(join(here.root, ".autopilot/state.json"), { recursive: true });
    expect((await findForeignRoadmap(here.home))?.findings[0]).toMatchObject({ rule: "no_file" });
  });

  test("where a run of ours has a journal, a damaged file is ours to draw anew", async () => {
    const here = detected("{ torn");
    writeFileSync(join(here.folder, "journal.jsonl"), '{"seq":1}\n');
    expect(await findForeignRoadmap(here.home)).toBeNull();
  });
});
