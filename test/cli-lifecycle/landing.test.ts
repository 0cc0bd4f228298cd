// Landing: verified work comes to the branch the run began on where nothing has to be forced; else
// it stays where it is and the hint says how.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ReasonCode, reasons } from "../../src/contracts/reason.ts";
import {
  autopilot,
  begin,
  eventsOf,
  goScripted,
  journal,
  scripted,
  until,
} from "../support/autopilot.ts";
import { fingerprint } from "../support/fingerprint.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";
import { playedOf, sampled } from "../support/sampled.ts";
import { criterion, done, makesOut, writes } from "./stories.ts";

/**
 * Everything of the user's checkout and branches; our own folder, the run's branch and git's
 * bookkeeping left out.
 */
const checkout = (folder: string): string =>
  [
    fingerprint(folder, { without: [".git", ".autopilot"] }),
    git(folder, "rev-parse", "HEAD"),
    git(folder, "symbolic-ref", "-q", "HEAD"),
    git(folder, "status", "--porcelain"),
    git(folder, "stash", "list"),
    readFileSync(join(folder, ".git", "index")).toString("base64"),
  ].join("\n");

/**
 * A script whose turn waits for a file beside the repository, so that the test can look and act
 * while the run works.
 */
const waiting = (folder: string): readonly object[] => [
  {
    do: [
      writes("out.txt"),
      { run: `until [ -e '${join(dirname(folder), "go-on")}' ]; do sleep 0.05; done` },
      done,
    ],
  },
];
const goOn = (folder: string): void => writeFileSync(join(dirname(folder), "go-on"), "");

const args = (folder: string, turns: readonly object[]): readonly string[] => [
  "go",
  "make out.txt",
  ...criterion,
  "--isolation",
  "clone",
  ...scripted(folder, turns),
  "--yes",
  "--json",
];

test.concurrent("while the run works nothing in the user's checkout changes; at completion a clean one is fast-forwarded", async () => {
  const folder = scratch();
  const before = checkout(folder);
  const head = git(folder, "rev-parse", "HEAD");
  const at = { ended: autopilot(folder, args(folder, waiting(folder))) };
  await until("the agent's turn", () => eventsOf(folder, "session_opened").length > 0);
  expect(checkout(folder)).toBe(before);
  expect(
    git(folder, "worktree", "list")
      .split("\n")
      .filter((line) => line.startsWith(`${folder} `)),
  ).toHaveLength(1);

  goOn(folder);
  const { json } = await at.ended;
  expect({ reason: json.reason_code, state: json.state }).toEqual({
    reason: "completion_verified",
    state: "completed",
  });

  expect(readFileSync(join(folder, "out.txt"), "utf8")).toBe("made\n");
  expect(git(folder, "rev-parse", "HEAD")).toBe(
    git(folder, "rev-parse", `autopilot/${json.run_id ?? ""}`),
  );

  expect(git(folder, "merge-base", head, "HEAD")).toBe(head);
  expect({
    branch: git(folder, "branch", "--show-current"),
    status: git(folder, "status", "--porcelain"),
  }).toEqual({
    branch: "main",
    status: "",
  });
});

test.concurrent("a branch that moved on without a conflict gets a merge commit", async () => {
  const folder = scratch();
  const at = { ended: autopilot(folder, args(folder, waiting(folder))) };
  await until("the agent's turn", () => eventsOf(folder, "session_opened").length > 0);
  write(folder, { "mine.txt": "mine\n" });
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "mine");
  const mine = git(folder, "rev-parse", "HEAD");
  goOn(folder);
  const { json } = await at.ended;
  expect(json.reason_code).toBe("completion_verified");
  expect(git(folder, "rev-list", "--parents", "-1", "HEAD").split(" ").slice(1)).toEqual([
    mine,
    git(folder, "rev-parse", `autopilot/${json.run_id ?? ""}`),
  ]);

  expect([
    existsSync(join(folder, "mine.txt")),
    existsSync(join(folder, "out.txt")),
    git(folder, "status", "--porcelain"),
  ]).toEqual([true, true, ""]);
});

/** The user's own configuration, which counts; their repository's does not. */
function theirConfig(folder: string): string {
  mkdirSync(join(dirname(folder), "home"), { recursive: true });
  return join(dirname(folder), "home", ".gitconfig");
}

describe("nothing is forced", () => {
  const files = { "a.txt": "a\n", "shared.txt": "base\n" };
  const meanwhile: readonly (readonly [
    what: string,
    reason: ReasonCode,
    act: (folder: string) => void,
  ])[] = [
    [
      "a tracked file with uncommitted changes",
      "checkout_dirty",
      (folder) => write(folder, { "a.txt": "mine\n" }),
    ],
    [
      "a commit that conflicts",
      "merge_conflict",
      (folder) => {
        write(folder, { "shared.txt": "mine\n" });
        git(folder, "commit", "-q", "-a", "-m", "mine");
      },
    ],
    [
      "a staged change",
      "checkout_dirty",
      (folder) => {
        write(folder, { "a.txt": "mine\n" });
        git(folder, "add", "a.txt");
      },
    ],
    [
      "another branch checked out",
      "checkout_moved",
      (folder) => git(folder, "switch", "-q", "-c", "other"),
    ],
    [
      "an untracked file where a new one would go",
      "checkout_dirty",
      (folder) => write(folder, { "out.txt": "mine\n" }),
    ],
  ];
  test.concurrent.each(sampled(3, meanwhile))(
    `into %s (%s): the checkout stays as it is, the branch stays, and the hint says how to merge${playedOf(3, meanwhile.length)}`,
    async (_what, reason, act) => {
      const folder = scratch({ files });
      const turns = [
        { do: [writes("shared.txt", "theirs\n"), ...(waiting(folder)[0] as { do: object[] }).do] },
      ];

      const at = { ended: autopilot(folder, args(folder, turns)) };
      await until("the agent's turn", () => eventsOf(folder, "session_opened").length > 0);
      act(folder);
      const before = checkout(folder);
      goOn(folder);
      const { json, code } = await at.ended;
      const branch = `autopilot/${json.run_id ?? ""}`;
      expect({ code, state: json.state, verdict: json["verdict"] }).toEqual({
        code: 0,
        state: "completed",
        verdict: "verified",
      });

      expect(checkout(folder)).toBe(before);
      expect(git(folder, "show", `${branch}:out.txt`)).toBe("made");
      // Git overwrites ignored files in its way: no command to copy while something is.
      const isInTheWay = reason === "checkout_dirty";
      expect(json.remediation.includes(`git merge ${branch}`)).toBe(!isInTheWay);
      expect(json.remediation.some((step) => step.endsWith(`then git merge ${branch}`))).toBe(
        isInTheWay,
      );

      expect(json.warnings.join("\n")).toContain(`It is on ${branch}.`);
      expect(json.warnings.join("\n")).toContain(reasons[reason].meaning);
      expect(JSON.stringify(eventsOf(folder, "step_failed").at(-1))).toContain(reason);
      const report = await autopilot(folder, ["report", "--json"]);
      expect(JSON.stringify(report.json["decisions"])).toContain(reason);
      expect((await autopilot(folder, ["status", "--json"])).json["next_actions"]).toContainEqual(
        expect.stringContaining(`git merge ${branch}`),
      );
    },
  );

  test.concurrent("work that is not verified as promised does not land while the run is open", async () => {
    const folder = scratch();
    const before = checkout(folder);

    const { json } = await goScripted(
      folder,
      [{ do: [writes("other.txt"), done], repeat: 0 }],
      [...criterion, "--max-cycles", "2"],
    );

    expect({ state: json.state, reason: json.reason_code }).toEqual({
      state: "running",
      reason: "cycle_cap_reached",
    });

    expect(checkout(folder)).toBe(before);
    await autopilot(folder, ["stop", "--json"]);
    expect(checkout(folder)).toBe(before);
    expect(git(folder, "show", `autopilot/${json.run_id ?? ""}:other.txt`)).toBe("made");
  });
});

test.concurrent("a run that was told not to land keeps its branch and says how to merge", async () => {
  const folder = scratch();
  const before = checkout(folder);
  const { json } = await goScripted(folder, makesOut, [...criterion, "--option", "land=false"]);
  expect(json.state).toBe("completed");
  expect(checkout(folder)).toBe(before);
  expect(json.remediation).toContain(`git merge autopilot/${json.run_id ?? ""}`);
});

test.concurrent("a stop that comes while the work lands ends the run, and its account says that the work has landed", async () => {
  const folder = scratch({ files: { ".gitattributes": "*.txt filter=slow\n" } });
  git(
    folder,
    "config",
    "-f",
    theirConfig(folder),
    "filter.slow.smudge",
    `until [ -e '${join(dirname(folder), "go-on")}' ]; do sleep 0.05; done; cat`,
  );

  const going = begin(folder, args(folder, makesOut));
  await until("it lands", () =>
    eventsOf(folder, "step_started").some(({ step }) => step === "merge"),
  );

  await until("git has begun", () => existsSync(join(folder, ".git/index.lock")));
  const stopping = begin(folder, ["stop", "--json"]);
  await until("the stop is taken", () => eventsOf(folder, "control_requested").length > 0);
  goOn(folder);
  const [stopped, reported] = [await stopping.ended, await going.ended];
  expect(stopped.json).toMatchObject({ result: "PASS", state: "stopped" });
  expect(stopped.json.message).toContain("has landed");
  expect(reported.json).toMatchObject({ reason_code: "operator_stopped", state: "stopped" });
  expect(existsSync(join(folder, "out.txt"))).toBe(true);
  expect(eventsOf(folder, "step_completed").at(-1)).toMatchObject({
    reason_code: "landed",
    facts: { landed: true },
  });
});

test.concurrent("two runs that land at the same moment both land, one after the other", async () => {
  const folder = scratch({ files: { ".gitattributes": "*.txt filter=slow\n" } });
  git(
    folder,
    "config",
    "-f",
    theirConfig(folder),
    "filter.slow.smudge",
    `until [ -e '${join(dirname(folder), "go-on")}' ]; do sleep 0.05; done; cat`,
  );

  const going = ["one", "two"].map((name) => {
    const agent = scripted(folder, [{ do: [writes(`${name}.txt`), done] }], name);
    const more = [
      "--done-criteria",
      `it is there :: test -f ${name}.txt`,
      "--isolation",
      "clone",
      "--new",
      "--yes",
      "--json",
    ];

    return begin(folder, ["go", `make ${name}`, ...agent, ...more]);
  });

  const landing = (): readonly string[] =>
    readdirSync(join(folder, ".autopilot/runs")).filter((run) =>
      journal(folder, join(folder, ".autopilot/runs", run)).some(
        ({ event, step }) => event === "step_started" && step === "merge",
      ),
    );
  await until(
    "both are to land",
    () => landing().length === 2 && existsSync(join(folder, ".git/index.lock")),
  );

  goOn(folder);
  for (const { ended } of going) {
    expect((await ended).json).toMatchObject({
      result: "PASS",
      state: "completed",
      warnings: expect.not.arrayContaining([expect.stringContaining("merged")]) as string[],
    });
  }

  expect([
    existsSync(join(folder, "one.txt")),
    existsSync(join(folder, "two.txt")),
    git(folder, "status", "--porcelain"),
  ]).toEqual([true, true, ""]);
});
