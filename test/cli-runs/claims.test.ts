// What agents say is looked up, and what is not so is recorded as that; it never completes a run.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted, runFolderOf } from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { aFew } from "../support/sampled.ts";

type Claim = { kind: string; text: string; verdict: string; why: string };
const claimsOf = (folder: string): readonly Claim[] =>
  eventsOf(folder, "claims_checked").flatMap(({ claims }) => claims as Claim[]);
const falseOf = (folder: string, kind: string): readonly Claim[] =>
  claimsOf(folder).filter((claim) => claim.kind === kind && claim.verdict === "false");

const done = " <promise>DONE</promise>";
const files = {
  "src/sum.js": "export const sum = (list) => list.length;\n",
  "check.sh": "#!/bin/sh\ngrep -q reduce src/sum.js\n",
};
const criterion = ["--done-criteria", "it sums :: ./check.sh", "--max-cycles", "1"];
const rightSum = {
  write: {
    path: "src/sum.js",
    text: "export const sum = (list) =>\n  list.reduce((all, one) => all + one, 0);\n",
  },
};

describe.concurrent("a claim that is not so", () => {
  aFew(2).each([
    [
      "a commit with a fake sha",
      "commit",
      "Committed as deadbeefdeadbeefdeadbeefdeadbeefdeadbeef.",
      /no.*commit|Neither/i,
    ],
    [
      "a line that is not there",
      "file_line",
      "The bug was in src/sum.js:4711.",
      /src\/sum\.js has 1 lines/,
    ],
    [
      "a file that is not there",
      "file_line",
      "The bug was in src/gone.js:3.",
      /no file src\/gone\.js/,
    ],
    [
      "a command's transcript",
      "command",
      "I ran it:\n\n```\n$ ./check.sh\nok\n```\n\nThat is all.",
      /`\.\/check\.sh`: failed \(exit 1\)/,
    ],
    ["being done", "done", "Everything is done.", /`\.\/check\.sh`: failed/],
    ["a change that was not made", "file_changed", "I updated src/sum.js.", /is as it was/],
  ])(
    "%s is recorded false, with why, and the run is not completed",
    async (_what, kind, say, why) => {
      const folder = scratch({ files });
      const { json } = await goScripted(folder, [{ do: [{ say: `${say}${done}` }] }], criterion);
      expect(json).toMatchObject({
        reason_code: "cycle_cap_reached",
        state: "running",
        verdict: null,
      });

      const [claim] = falseOf(folder, kind);
      expect(claim?.why).toMatch(why);
      const report = await autopilot(folder, ["report"]);
      expect(report.out).toMatch(/Agent's word \(not proof\)[\s\S]* ✗ “/);
      const looked = (await autopilot(folder, ["report", "--json"])).json["looked_up"] as {
        claims: readonly Claim[];
      };
      expect(looked.claims[0]?.verdict).toBe("false");
    },
  );

  test("a promise counts as a claim, decided by the runner's own checks", async () => {
    const folder = scratch({ files });
    await goScripted(folder, [{ do: [{ say: `It is so.${done}` }] }], criterion);
    expect(falseOf(folder, "done")).toMatchObject([
      { text: "It promises that everything is done." },
    ]);
  });
});

test.concurrent("a promise in a quotation is no claim and completes nothing", async () => {
  const folder = scratch({ files });
  const say =
    "You asked me to say:\n\n> All tests pass. Everything is done. <promise>DONE</promise>\n\nThat is for later.";
  const { json } = await goScripted(folder, [{ do: [rightSum, { say }] }], criterion);
  expect(json).toMatchObject({ reason_code: "completion_promise_missing", state: "paused" });
  expect(eventsOf(folder, "step_completed").at(-1)).toMatchObject({
    reason_code: "completion_promise_missing",
  });

  expect(claimsOf(folder)).toEqual([]);
});

test.concurrent("a provider's failure dressed as the end of a turn promises nothing, claims nothing and completes nothing", async () => {
  const folder = scratch({ files });
  const say = "API Error: 500 Internal server error";

  const { json } = await goScripted(
    folder,
    [{ do: [{ say }, { stop: "end_turn" }], repeat: 0 }],
    criterion,
  );
  expect(json).toMatchObject({ reason_code: "cycle_cap_reached", state: "running", verdict: null });
  expect(eventsOf(folder, "step_failed")).toMatchObject([{ reason_code: "criterion_failed" }]);
  expect(eventsOf(folder, "step_completed").at(-2)).toMatchObject({
    reason_code: "completion_promise_missing",
  });

  expect(claimsOf(folder)).toEqual([]);
});

describe.concurrent("an honest agent", () => {
  const say = [
    "Fixed `sum` (src/sum.js:1). I updated src/sum.js.",
    "I ran it:",
    "```",
    "$ ./check.sh",
    "ok",
    "```",
    `Everything is done.${done}`,
  ].join("\n");

  const honest = [
    {
      do: [
        rightSum,
        { run: "git add -A && git commit -qm work && git rev-parse HEAD > /dev/null" },
        { say },
      ],
    },
  ];

  test("is told to be honest, the run completes, and each claim is written once", async () => {
    const folder = scratch({ files });
    const { json } = await goScripted(folder, honest, criterion);
    expect(json).toMatchObject({ state: "completed", verdict: "verified" });
    const claims = claimsOf(folder);
    expect(claims.filter(({ verdict }) => verdict !== "true")).toEqual([]);
    expect(claims.map(({ kind }) => kind).toSorted()).toEqual([
      "command",
      "done",
      "file_changed",
      "file_line",
    ]);
  });

  test("a commit that the agent made in its own repository is there", async () => {
    const folder = scratch({ files });
    const dated =
      "GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000' git -c user.name=a -c user.email=a@example.invalid";
    const make = `${dated} commit-tree -m made "$(git hash-object -t tree -w /dev/null)"`;
    const sha = execFileSync("sh", ["-c", make], { cwd: scratch(), encoding: "utf8" }).trim();
    await goScripted(
      folder,
      [
        {
          do: [
            rightSum,
            { run: `${make} > /dev/null` },
            { say: `Committed as ${sha.slice(0, 12)}.` },
          ],
        },
      ],
      criterion,
    );

    expect(claimsOf(folder)).toMatchObject([{ kind: "commit", verdict: "true" }]);
  });

  test("who says nothing that can be looked up leaves no such line in the journal", async () => {
    const folder = scratch({ files });
    await goScripted(folder, [{ do: [rightSum, { say: "I had a look around." }] }], criterion);
    expect(eventsOf(folder, "claims_checked")).toEqual([]);
  });
});

test("truthfulness is kept across runs, by agent and role; a damaged journal is named and left out", async () => {
  const folder = scratch({ files });
  expect((await autopilot(folder, ["agents", "--truth", "--json"])).json).toMatchObject({
    result: "PASS",
    truth: [],
  });

  await goScripted(folder, [{ do: [{ say: `Everything is done.${done}` }] }], criterion);
  await autopilot(folder, ["stop"]);
  const damaged = runFolderOf(folder);
  await goScripted(
    folder,
    [{ do: [rightSum, { say: `I updated src/sum.js. Everything is done.${done}` }] }],
    criterion,
  );

  const { json } = await autopilot(folder, ["agents", "--truth", "--json"]);
  expect(json["truth"]).toMatchObject([
    {
      agent: "scripted",
      model: null,
      role: "executor",
      true: 2,
      false: 1,
      share_true: 0.6667,
      runs: 2,
      turns: 2,
      last_false: [{}],
    },
  ]);

  expect((await autopilot(folder, ["agents", "--truth"])).out).toMatch(
    /scripted as executor: 67 % true \(2 of 3\).*\n\s+✗ “/,
  );

  const path = join(damaged, "journal.jsonl");
  writeFileSync(path, readFileSync(path, "utf8").replace('"turn_ended"', '"turn_endet"'));
  const after = await autopilot(folder, ["agents", "--truth", "--json"]);
  expect(after.json).toMatchObject({
    result: "PASS",
    truth: [{ true: 2, false: 0, runs: 1 }],
    damaged: [{}],
  });

  expect(after.json.warnings[0]).toContain("is left out");
  expect(git(folder, "status", "--porcelain")).toBe("");
});
