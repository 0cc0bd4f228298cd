import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Entry } from "../../src/contracts/event.ts";
import { nodeDisk } from "../../src/journal/disk.ts";
import { openJournal } from "../../src/journal/file-journal.ts";
import { type Group, openGroup } from "../../src/journal/group.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { Pace } from "../../src/journal/pace.ts";
import {
  type Image,
  powerCutDisk,
  type PowerCutDisk,
  restore,
  survivals,
} from "../../src/journal/power-cut.test-support.ts";
import {
  freshFolder,
  grouped,
  skipped,
  still,
  sweep,
} from "../../src/journal/scene.test-support.ts";
import { isLong, seed } from "../support/sampled.ts";

afterEach(sweep);

type Mode = "sync" | "own group" | "shared log" | "shared log in halves";

type Cut = {
  readonly survival: string;
  readonly image: Image;
  readonly acknowledged: readonly number[];
  readonly given: readonly number[];
};
type Lived = { readonly cuts: readonly Cut[]; readonly root: string };

const runs = 3;
const folderOf = (root: string, run: number): string => join(root, "runs", String(run));
/** Reading what a cut left needs no syncs of its own. */
const quickDisk = { ...nodeDisk, fsync: () => undefined, fdatasync: () => undefined };

/** Two of the three never wait for the third, whose sync begins while they go on. */
const inHalves: Pace = {
  lineArrived: () => {},
  syncStarted: () => {},
  syncEnded: () => {},
  isHalfBatchReady: (waiting) => waiting > 1,
  shouldSyncNow: () => true,
};

async function groupOf(mode: Mode, folder: string, disk: PowerCutDisk): Promise<Group | null> {
  const options = { disk, logBytesMax: 2_000 };
  if (mode === "shared log") return openGroup(folder, options);
  return mode === "shared log in halves" ? openGroup(folder, { ...options, pace: inHalves }) : null;
}

/**
 * Three runs side by side, one of them alone for a while, until each is closed; every moment of it
 * at which the power may fail.
 */
async function live(mode: Mode, isSynced?: (path: string) => boolean): Promise<Lived> {
  const root = freshFolder();
  mkdirSync(root, { recursive: true });
  const acknowledged = Array.from({ length: runs }, () => 0);
  const given = Array.from({ length: runs }, () => 0);
  const cuts = new Map<string, Cut>();
  const disk: PowerCutDisk = powerCutDisk(root, look, isSynced);

  function look(): void {
    for (const survival of survivals) {
      const image = disk.image(survival);
      const key = createHash("sha256").update(acknowledged.join());
      for (const [path, bytes] of image) key.update(path).update(bytes);
      cuts.set(key.digest("hex"), {
        survival,
        image,
        acknowledged: [...acknowledged],
        given: [...given],
      });
    }
  }

  const group = await groupOf(mode, join(root, "commit"), disk);
  const options = {
    ...(mode === "sync" ? still : grouped),
    disk,
    ...(group === null ? {} : { commitGroup: group }),
  };

  const journals: Journal[] = [];
  for (let run = 0; run < runs; run++) {
    journals.push((await openJournal(folderOf(root, run), options)).journal);
  }

  const append = async (run: number): Promise<void> => {
    given[run] = (given[run] ?? 0) + 1;
    await journals[run]?.append([skipped(given[run])]);
    acknowledged[run] = (acknowledged[run] ?? 0) + 1;
    look();
  };

  for (let round = 0; round < 4; round++) {
    await Promise.all(journals.map((_, run) => append(run)));
    await append(round % runs);
  }

  for (const journal of journals) await journal.close();
  group?.close();
  look();

  return { cuts: [...cuts.values()], root };
}

/** The runs in which something acknowledged is missing, or something stands that nobody gave. */
async function lostIn({ image, acknowledged, given }: Cut): Promise<number[]> {
  const root = freshFolder();
  mkdirSync(root, { recursive: true });
  restore(image, root);
  const lost: number[] = [];

  for (let run = 0; run < runs; run++) {
    const entries: Entry[] = [];
    const { journal } = await openJournal(folderOf(root, run), {
      ...still,
      disk: quickDisk,
      onEntry: (entry) => void entries.push(entry),
    });
    await journal.close();
    const steps = entries.flatMap((entry) => (entry.event === "step_skipped" ? [entry.step] : []));
    const isPrefix = steps.every((step, at) => step === `step-${at + 1}`);
    if (!isPrefix || steps.length < (acknowledged[run] ?? 0) || steps.length > (given[run] ?? 0)) {
      lost.push(run);
    }
  }

  await expectNoLogs(join(root, "commit"));
  return lost;
}

/** Once every run is complete again, the next group finds no log worth keeping. */
async function expectNoLogs(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const group = await openGroup(folder, { disk: quickDisk });
  group.close();
  expect(readdirSync(folder)).toEqual([]);
}

test.each(["sync", "own group", "shared log", "shared log in halves"] as const)(
  "%s: wherever the power fails, nothing acknowledged is lost",
  async (mode) => {
    const { cuts } = await live(mode);
    expect(cuts.length).toBeGreaterThan(100);
    expect(cuts.some(({ acknowledged }) => acknowledged.join() === "6,5,5")).toBe(true);
    const looked = cuts.filter((_, at) => isLong || (at + seed) % 5 === 0); // in an everyday run at every fifth moment
    for (const cut of looked) {
      expect(await lostIn(cut), `${cut.survival} at ${cut.acknowledged.join()}`).toEqual([]);
    }
  },
);

test("without the log's own sync, something acknowledged is lost", async () => {
  const { cuts } = await live("shared log", (path) => !path.endsWith(".log"));
  let losses = 0;

  for (const cut of cuts) {
    if (cut.survival === "nothing" && losses === 0) losses += (await lostIn(cut)).length;
  }

  expect(losses).toBeGreaterThan(0);
});

test("without the sync of a journal's own file before the log is emptied, something acknowledged is lost", async () => {
  const { cuts } = await live("shared log", (path) => !path.endsWith(".jsonl"));
  let losses = 0;

  for (const cut of cuts) {
    if (cut.survival === "nothing" && losses === 0) {
      losses += await lostIn(cut).then(
        ({ length }) => length,
        () => 1,
      );
    }
  }

  expect(losses).toBeGreaterThan(0);
});

test("a second cut in the midst of completing a journal loses nothing either", async () => {
  const { cuts } = await live("shared log");
  const owed = cuts.filter(
    ({ survival, image }) =>
      survival === "nothing" && [...image.keys()].some((path) => path.endsWith("commit.json")),
  );
  expect(owed.length).toBeGreaterThan(0);

  for (const cut of owed.filter((_, at) => at % (isLong ? 7 : 21) === 0)) {
    const root = freshFolder();
    mkdirSync(root, { recursive: true });
    restore(cut.image, root);
    const seconds: Image[] = [];
    const disk: PowerCutDisk = powerCutDisk(root, () => {
      for (const survival of survivals) seconds.push(disk.image(survival));
    });

    const { journal } = await openJournal(folderOf(root, 0), { ...still, disk });
    await journal.close();

    for (const image of new Set(seconds.filter((_, at) => at % 5 === 0))) {
      expect(await lostIn({ ...cut, image })).toEqual([]);
    }
  }
});
