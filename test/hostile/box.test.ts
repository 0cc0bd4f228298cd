// Hostile agents: each action succeeds without care, on this machine, now; and at each level of
// isolation exactly the known ones get out.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { chooseIsolation } from "../../src/workspace/isolation/isolation.ts";
import type { Action } from "./action.ts";
import { honestCall } from "./actions-egress.ts";
import { inBox, playCareless, playIsolated, playTogether } from "./play.ts";
import { openScene, type Scene } from "./scene.ts";
import { actions, holes, type Level, levels } from "./table.ts";
import { sampled, turnTest } from "../support/sampled.ts";

const possible = actions.filter(
  ({ impossible }) => impossible === undefined || impossible === null,
);
const scenes: Scene[] = [];
const outer = { home: process.env["HOME"], secret: process.env["HOSTILE_SECRET"] };

/** A scene whose home is this process's own, and whose secret is in its environment. */
async function open(level?: string): Promise<Scene> {
  const scene = await openScene(level);
  scenes.push(scene);
  process.env["HOME"] = scene.home;
  process.env["HOSTILE_SECRET"] = scene.secrets["environment"];

  return scene;
}
const placeOf = ({ bench }: Scene): { hidden: string[]; runDir: string } => ({
  hidden: [bench.root],
  runDir: bench.runDir,
});

afterAll(async () => {
  await Promise.all(scenes.map((scene) => scene.close()));
  process.env["HOME"] = outer.home;
  delete process.env["HOSTILE_SECRET"];
});

/** Why a level cannot be had here; null if its self-test passes. */
async function whyNot(level: Level): Promise<string | null> {
  const runDir = mkdtempSync(join(tmpdir(), "hostile-try-"));
  const choice = await chooseIsolation(level, { hidden: [], runDir });
  rmSync(runDir, { recursive: true, force: true });

  return "failure" in choice ? choice.failure.detail : null;
}

const isWeak = (level: Level): boolean => level === "clone" || level === "none";
/** Who reads what an agent left is the runner, which does it alike at these as at `bwrap`. */
const isReadAlike = (level: Level): boolean => level === "srt" || level === "landlock";

async function escapesOf(
  some: readonly Action[],
  play: (action: Action) => Promise<boolean>,
): Promise<readonly string[]> {
  const escapes: string[] = [];
  for (const action of some) if (await play(action)) escapes.push(action.id);
  return escapes;
}

test("there are at least 44 actions, each with a name of its own", () => {
  expect(new Set(actions.map(({ id }) => id)).size).toBe(actions.length);
  expect(actions.length).toBeGreaterThanOrEqual(44);

  for (const ids of Object.values(holes)) {
    for (const id of ids) expect(actions.map((action) => action.id)).toContain(id);
  }
});

test("without care every one of them succeeds here, so that being held means something", async () => {
  const scene = await open();
  const played = sampled(6, possible);
  const escapes = await escapesOf(played, (action) => playCareless(scene, action));
  expect(played.map(({ id }) => id).filter((id) => !escapes.includes(id))).toEqual([]);
});

for (const level of levels) {
  const missing = await whyNot(level);
  const title = `at level ${level} exactly the known ones get out`;
  // What is held nowhere is shown by `clone` and without care as well.
  const play = level === "none" ? turnTest : test.skipIf(missing !== null);
  play(missing === null ? title : `${title} (skipped: ${missing})`, async () => {
    const scene = await open(level);
    const choice = await chooseIsolation(level, placeOf(scene));
    if ("failure" in choice) throw new Error(choice.failure.detail);
    await inBox(scene, choice.isolation, honestCall);
    expect(scene.egress.reached("honest"), "an honest call goes through the egress").toBe(true);
    const alone = (some: readonly Action[]): Promise<readonly string[]> =>
      escapesOf(some, (action) => playIsolated(scene, choice.isolation, action));
    const known = holes[level];
    const own = possible.filter(({ careless }) => careless === undefined);
    const quiet = own.filter(({ id }) => !known.includes(id));
    const isOpen = ({ id, careless }: Action): boolean =>
      careless === undefined && known.includes(id);
    const apart = possible.filter((action) => !quiet.includes(action) && !isOpen(action));

    // Where nothing is held, a few show that the actions are real; where something is, all of them
    // are played that must not get out. Traps for who reads the layer later are all played where it
    // is a view, and a sample where it is a copy as at every other level.
    const others = [
      ...(level === "overlay"
        ? apart
        : sampled(isWeak(level) || isReadAlike(level) ? 3 : 8, apart)),
      ...sampled(isWeak(level) ? 2 : 3, possible.filter(isOpen)),
    ];

    // Those that should not get out share a box, and only if one does is each of them played alone
    // to name it.
    const isQuiet = (await playTogether(scene, choice.isolation, quiet)).length === 0;
    const escapes = [...(isQuiet ? [] : await alone(quiet)), ...(await alone(others))];
    expect(escapes.toSorted()).toEqual(
      others
        .map(({ id }) => id)
        .filter((id) => known.includes(id))
        .toSorted(),
    );
  });
}
