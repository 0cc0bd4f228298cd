// What a killed runner leaves in the system's temporary folder is taken away by the next start, and
// nothing of a living one.

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { apart, begin, scripted, until } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";

const turns = [
  { do: [{ write: { path: "b.txt", text: "b\n" } }, { say: "<promise>DONE</promise>" }] },
];
const args = (folder: string, first: object) => [
  "go",
  "make b",
  "--yes",
  "--isolation",
  "clone",
  "--done-criteria",
  "b :: test -f b.txt",
  ...scripted(folder, [first, ...turns]),
];

longTest(
  "the folder of a runner that was killed in a turn goes with the next start, and one of a living runner stays",
  "src/project/runs/sweep-temporary.test.ts › what a process that is gone has left is taken away, what is locked on purpose in it too; links in it are not followed",
  async () => {
    const [killed, alive] = [scratch(), scratch()];
    const TMPDIR = join(dirname(killed), "tmp");
    mkdirSync(TMPDIR);
    const env = { TMPDIR };
    const detected = (): readonly string[] =>
      readdirSync(TMPDIR, { recursive: true, encoding: "utf8" }).filter((path) =>
        /(?:egress|work)-\w+$/.test(path),
      );

    // Waits the first time alone: after a kill the turn is played from its beginning.
    const again = join(dirname(killed), "again");
    const hang = {
      do: [{ run: `test -e ${again} || { touch ${again}; sleep 60; }` }, ...(turns[0]?.do ?? [])],
    };

    const other = begin(alive, args(alive, { do: [{ hang: true }] }), { env });
    const theirs = await until("the living one's egress", () =>
      detected().find((path) => path.includes("egress-")),
    );

    const first = begin(killed, args(killed, hang), { env });
    const ours = await until("the other egress", () =>
      detected().find((path) => path.includes("egress-") && path !== theirs),
    );

    await until("its turn", () => existsSync(again));
    first.child.kill("SIGKILL");
    await first.ended;
    expect(detected()).toEqual(expect.arrayContaining([theirs, ours])); // it is left, and nobody else takes it away

    const resumed = await apart(killed, ["resume", "--json"], { env });
    expect(resumed.json).toMatchObject({ state: "completed" });
    expect(detected()).toEqual([theirs]);

    expect((await apart(alive, ["stop", "--json"], { env })).json.state).toBe("stopped");
    await other.ended;
    expect(readdirSync(TMPDIR).filter((name) => name.startsWith("tmp-own-"))).toEqual([]);
  },
);
