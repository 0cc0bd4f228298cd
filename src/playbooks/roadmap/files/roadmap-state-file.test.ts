// Where the state of another run goes before ours takes its place.

import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { seedState } from "../../../contracts/roadmap.test-support.ts";
import { clearRooms, room, type Room } from "./roadmap-room.test-support.ts";
import { openStateFile } from "./roadmap-state-file.ts";

afterEach(clearRooms);

const ours = "run-2026-05-05-101010";
const theirs = `${JSON.stringify(seedState)}\n`;
const openIn = ({ root, folder }: Room) =>
  openStateFile({ root, folder, run: ours, derive: () => null });
const archived = `.autopilot/archive/${seedState._meta.run_id}.json`;

test("it is archived under a name that is free, once", async () => {
  const here = room(ours);
  here.write(".autopilot/state.json", theirs);
  here.write(archived, "{}");
  await openIn(here).write("{}\n");
  expect(here.text(archived.replace(".json", "-2.json"))).toBe(theirs);
  expect(here.text(".autopilot/state.json")).toBe("{}\n");
});

test("behind a link no name is free: the write fails and says so, and nothing is replaced", async () => {
  const here = room(ours);
  here.write(".autopilot/state.json", theirs);
  mkdirSync(join(here.root, "elsewhere"));
  symlinkSync(join(here.root, "elsewhere"), join(here.root, ".autopilot/archive"));
  await expect(openIn(here).write("{}\n")).rejects.toThrow(".autopilot/archive is a link");
  expect(here.text(".autopilot/state.json")).toBe(theirs);
  expect(readdirSync(join(here.root, "elsewhere"))).toEqual([]);
});
