// A disk that is full when an agent's turn ends: what the turn made is paid for, and it is not run
// again.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { lendLogin } from "../../src/agents/lent-login.ts";
import { agentProfiles } from "../../src/agents/profiles/shipped-profiles.ts";
import { autopilot, scripted } from "../support/autopilot.ts";
import { isLong } from "../support/sampled.ts";
import { git, scratch, scratchFolder } from "../support/scratch-repository.ts";
import { entriesOf, expectWhole, newestRun, recover, said } from "./small-run.ts";
import { ballastIn, fill, fillCommand, mayMount, smallDisk, whyNoDisk } from "./small-disk.ts";

const diskMegabytes = 16;
/** More bytes than a block has, so that the journal's line needs a new one. */
const longLine = "長い行。".repeat(450);
const usage = { input: 100, output: 10 };

type Case = {
  readonly name: string;
  /** What is left free when the turn ends. */
  readonly kilobytes: number;
  readonly says: string;
  readonly hasIgnoreRules?: true;
  /** Moves the line to another place in its block. */
  readonly padding?: string;
};

/** Which block is the last depends on the machine: they are tried until one is hit. */
const aboutItsLine = "about its line";
const all: readonly Case[] = [
  { name: "before it is read back", kilobytes: 0, says: longLine, hasIgnoreRules: true },
  { name: "at the first byte of its blob", kilobytes: 0, says: longLine },
  { name: "within its blob", kilobytes: 40, says: longLine.repeat(30) },
  ...[16, 20, 12, 24].flatMap((kilobytes) =>
    ["", "a".repeat(1400), "b".repeat(2800)].map((padding) => ({
      name: `${aboutItsLine}, with ${kilobytes} KB left and ${padding.length} bytes before it`,
      kilobytes,
      says: longLine,
      padding,
    })),
  ),
  { name: "after its line, when its work is applied", kilobytes: 64, says: longLine },
];
/** In an everyday run one for each place that a turn's end is written to. */
const cases = isLong
  ? all
  : all.filter(({ name }) => !/^(?:within its blob|after its line)/.test(name));

test.skipIf(!mayMount)(
  `a turn that ended on a full disk is recorded and applied once there is room, and is not run again${whyNoDisk}`,
  { timeout: 600_000 },
  async () => {
    const points: string[] = [];
    const isUnrecorded = (why: string): boolean =>
      points.some((point) => point.includes(": unrecorded") && point.includes(why));

    for (const { name, kilobytes, says, hasIgnoreRules, padding = "" } of cases) {
      if (name.startsWith(aboutItsLine) && isUnrecorded("writing the journal")) continue;
      const { folder, turns, args } = repositoryOnSmallDisk({
        kilobytes,
        says,
        hasIgnoreRules: hasIgnoreRules === true,
      });
      const [goal = "", ...rest] = args;

      const reported = await autopilot(folder, [
        "go",
        `${goal}${padding}`,
        ...rest,
        "--yes",
        "--json",
      ]);
      expect(reported.json, `${name}: ${said(reported)}`).toMatchObject({
        reason_code: "disk_full",
        result: "FAIL",
      });

      const isRecorded = entriesOf(newestRun(folder)).some(({ event }) => event === "turn_ended");
      points.push(
        `${name}: ${isRecorded ? "recorded" : "unrecorded"}, ${reported.json.message.slice(0, 500)}`,
      );

      expect(turns(), name).toBe(1);

      const [disk, more] = [dirname(folder), join(dirname(folder), "more")];
      fill(disk, 0, more); // room that a receipt gave back
      const still = await autopilot(folder, ["resume", "--json"]);
      expect(still.json.reason_code, `${name}, still full: ${said(still)}`).toBe("disk_full");
      for (const ballast of [ballastIn(disk), more]) rmSync(ballast, { force: true });
      await recover(folder);

      expect(turns(), `${name}: turns that were paid for`).toBe(1);
      const entries = entriesOf(newestRun(folder));
      const ended = entries.filter(({ event }) => event === "turn_ended");
      expect(ended, name).toMatchObject([{ promised: true }]);
      expect(
        String(ended[0]?.["said"]).startsWith(says.slice(0, 1000)),
        `${name}: what it said`,
      ).toBe(true);

      const settled = entries.filter(({ event }) => event === "attempt_settled");
      expect(settled.length, `${name}: the attempt was taken up`).toBeGreaterThan(0);
      for (const entry of settled) expect(entry, name).toMatchObject({ remedy: "continue" });
      expect(
        settled.some((entry) => "usage" in entry),
        `${name}: it is charged once`,
      ).toBe(false);

      expect(git(folder, "show", "main:src/a.txt")).toBe("two");
      expect(
        readdirSync(join(newestRun(folder), "records", "turns")),
        `${name}: the room is given back`,
      ).toEqual([]);

      await expectWhole(folder);
    }

    process.stdout.write(`${points.join("\n")}\n`);
    expect(
      isUnrecorded("ENOSPC: no space left on device"),
      "the disk was full when a turn was read back",
    ).toBe(true);

    expect(isUnrecorded("writing a blob"), "and when its blob was written").toBe(true);
    expect(isUnrecorded("writing the journal"), "and when its line was").toBe(true);
  },
);

test.skipIf(!mayMount)(
  `a turn isn't begun on a disk that has no room for its outcome${whyNoDisk}`,
  async () => {
    const { folder, turns, args } = repositoryOnSmallDisk({
      kilobytes: 0,
      says: "",
      hasIgnoreRules: false,
    });
    expect((await autopilot(folder, ["start", ...args, "--json"])).code).toBe(0);
    fill(dirname(folder), 900);
    const reported = await autopilot(folder, ["go", "--yes", "--json"]);
    expect(reported.json, said(reported)).toMatchObject({ reason_code: "disk_full" });
    expect(turns()).toBe(0);
  },
);

test.skipIf(!mayMount)(
  `an agent that fills the disk with what git ignores costs one turn, and nobody has to free anything${whyNoDisk}`,
  async () => {
    const { folder, turns, args } = repositoryOnSmallDisk({
      kilobytes: 0,
      says: longLine,
      hasIgnoreRules: true,
      isFilledInside: true,
    });
    const reported = await autopilot(folder, ["go", ...args, "--yes", "--json"]);
    expect(reported.json, said(reported)).toMatchObject({
      reason_code: "disk_full",
      result: "FAIL",
    });

    await recover(folder);
    expect(turns()).toBe(1);
    expect(entriesOf(newestRun(folder)).filter(({ event }) => event === "turn_ended")).toHaveLength(
      1,
    );

    expect(git(folder, "show", "main:src/a.txt")).toBe("two");
    await expectWhole(folder);
  },
);

test.skipIf(!mayMount)(
  `a renewed login that finds no room costs no turn, and is copied back later${whyNoDisk}`,
  async () => {
    const [user, home] = [smallDisk(1), join(scratchFolder(), "home")];
    const file = agentProfiles.codex.ownLogin?.files[0]?.path ?? "";
    const write = (root: string, token: string): void => {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), JSON.stringify({ tokens: { access: token } }));
    };

    mkdirSync(home);
    write(user, "old");
    const lent = await lendLogin(agentProfiles.codex, user, home);
    write(home, "renewed");
    const ballast = fill(user, 0);
    const { renewed, keptFiles } = await lent.giveBack();
    expect([renewed, keptFiles.map(({ why }) => why.slice(0, 6))]).toEqual([[], ["ENOSPC"]]);
    expect(readFileSync(join(user, file), "utf8")).toContain("old");

    rmSync(ballast);
    const again = await lendLogin(agentProfiles.codex, user, home);
    expect(readFileSync(join(home, file), "utf8"), "the next turn has the renewed one").toContain(
      "renewed",
    );

    expect((await again.giveBack()).renewed).toEqual([file]);
    expect(readFileSync(join(user, file), "utf8")).toContain("renewed");
  },
);

/**
 * A repository whose one turn fills the disk, changes a file and says something; with the number of
 * turns that were run.
 */
function repositoryOnSmallDisk({
  kilobytes,
  says,
  hasIgnoreRules,
  isFilledInside = false,
}: Pick<Case, "kilobytes" | "says"> & {
  readonly hasIgnoreRules: boolean;
  readonly isFilledInside?: boolean;
}): {
  readonly folder: string;
  readonly turns: () => number;
  readonly args: readonly string[];
} {
  const disk = smallDisk(diskMegabytes);
  const folder = join(disk, "repo");
  mkdirSync(folder);

  const files = {
    "src/a.txt": "one\n",
    "README.md": "# small\n",
    ...(hasIgnoreRules ? { ".gitignore": "*.log\n", "src/.gitignore": "tmp\n" } : {}),
  };

  cpSync(scratch({ files }), folder, { recursive: true });
  const beside = join(scratchFolder(), "repo");
  const counter = join(dirname(beside), "turns");
  writeFileSync(counter, "");
  const run = `echo turn >> ${counter}; echo two > src/a.txt; ${isFilledInside ? "cat /dev/zero > src/tmp" : `head -c 300000 /dev/urandom > src/large.bin; ${fillCommand(disk, kilobytes)}`}; true`;
  const turn = { do: [{ run }, { say: `${says} <promise>DONE</promise>` }, { usage }], repeat: 0 };

  return {
    folder,
    turns: () => readFileSync(counter, "utf8").split("\n").length - 1,
    args: [
      "write two",
      "--scope=src/**",
      "--done-criteria=two :: grep -q two src/a.txt",
      "--max-budget=tokens=90m,minutes=900,calls=90000",
      "--isolation=clone",
      ...scripted(beside, [turn]),
    ],
  };
}
