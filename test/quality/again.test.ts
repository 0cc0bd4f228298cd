// Artifacts beat events: what is gone is made again, what was cut off goes on, and a log is only
// ever added to or moved away.

import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gatesGap } from "../../src/core/verdict.ts";
import { autopilot, begin, eventsOf, processesOf, until } from "../support/autopilot.ts";
import { once, rewound } from "../support/rewind.ts";
import { git } from "../support/scratch-repository.ts";
import { aFew, longTest } from "../support/sampled.ts";
import {
  audit,
  history,
  inShort,
  left,
  linesIn,
  log,
  logText,
  named,
  progress,
  shop,
  turn,
  turns,
  args,
  wrote,
} from "./audit.ts";
import { faultsIn, inProgress } from "./seed-reader.ts";

/**
 * A turn that does this and then waits, the first times it is played; afterwards it continues. What
 * is cut short is played again in its place.
 */
const cut = (
  folder: string,
  phase: string,
  before: readonly object[],
  after: readonly object[],
  times = 1,
): object => ({
  ...turn(phase),
  do: [
    ...before,
    {
      run: `n=$(ls '${folder}/..' | grep -c ^cut); [ $n -ge ${times} ] || { touch '${folder}/../cut'$n; exec sleep 600; }`,
    },
    ...after,
  ],
});
const wasCut = (folder: string, times = 1): boolean =>
  existsSync(join(folder, `../cut${times - 1}`));

async function killedWhenCut(
  folder: string,
  phase: string,
  played: readonly object[],
): Promise<void> {
  const { child, ended } = begin(folder, args(folder, played));
  await until("the agent's wait", () => wasCut(folder));
  await until("the log's phase_start", () => inShort(log(folder)).includes(`start ${phase}`));
  child.kill("SIGKILL");
  await ended;
}

/**
 * A run that was paused while an agent worked on this phase; taken up again, the agent does its
 * work.
 */
async function pausedIn(
  folder: string,
  phase: string,
  played: readonly object[],
  times = 1,
): Promise<void> {
  const { ended } = begin(folder, args(folder, played));
  await until(
    `phase ${phase}`,
    () => wasCut(folder, times) && inShort(log(folder)).includes(`start ${phase}`),
  );

  await autopilot(folder, ["pause", "--now", "--json"]);
  await ended;
}
const pauses = (folder: string, phase: string, times = 1): object =>
  cut(folder, phase, [], wrote(left[phase] ?? {}), times);

describe.concurrent("killed, cleared away, tampered with", () => {
  test("killed with the work of a phase done: its phase_end is added and the next phase begins; the turn is not bought again", async () => {
    const folder = shop();
    await killedWhenCut(folder, "2", turns({ "2": cut(folder, "2", wrote(left["2"] ?? {}), []) }));
    expect(inProgress(logText(folder))).toBe(2);
    const before = logText(folder);
    const { json } = await autopilot(folder, ["resume", "--json"]);
    expect(json).toMatchObject({ state: "completed", verdict: "verified_with_gaps" });
    expect(eventsOf(folder, "attempt_settled")).toMatchObject([{ remedy: "close" }]);
    expect(logText(folder).startsWith(before)).toBe(true); // only added to
    expect(inShort(log(folder))).toEqual([
      "_index",
      "run_start",
      ...[1, 2, 3, 4, 5, 6].flatMap((p) => [`start ${p}`, `end ${p}`]),
      "run_end success",
    ]);

    // Nobody handed anything back: what the files hold is counted in the files.
    expect(named(log(folder), "phase_end")[1]).toMatchObject({
      key_counts: { findings_promoted: 2, findings_dropped: 0 },
    });

    expect(
      eventsOf(folder, "step_started").filter((entry) => entry["attempt"] === "2@1/do#1"),
    ).toHaveLength(1);

    expect(faultsIn(logText(folder), 2)).toEqual([]);
    expect(processesOf(String(json.run_id), folder)).toEqual([]);
  });

  longTest(
    "killed with half of it done: an error, the phase again, and only then its phase_end",
    "test/flows/kills.test.ts › with headings where a chapter should be: half done, and the same turn again",
    async () => {
      const folder = shop();
      const [first, ...rest] = wrote(left["2"] ?? {});
      await killedWhenCut(folder, "2", turns({ "2": cut(folder, "2", [first ?? {}], rest) }));
      const { json } = await autopilot(folder, ["resume", "--json"]);
      expect(json).toMatchObject({ state: "completed", verdict: "verified_with_gaps" });
      expect(inShort(log(folder)).slice(2, 8)).toEqual([
        "start 1",
        "end 1",
        "start 2",
        "error 2 recoverable",
        "end 2",
        "start 3",
      ]);

      expect(faultsIn(logText(folder), 2)).toEqual([]);
    },
  );

  aFew(1).each([
    ["deleted", (folder: string) => rmSync(join(folder, "quality/EXPLORATION.md"))],
    [
      "deleted in a commit",
      (folder: string) => {
        git(folder, "rm", "-q", "quality/EXPLORATION.md");
        git(folder, "commit", "-q", "-m", "away");
      },
    ],
  ])(
    "an artifact %s after its phase_end: the log moves to history, the phase runs again, and the file is back in the checkout",
    async (_how, takeAway) => {
      const folder = shop();
      await pausedIn(folder, "3", [
        turn("1"),
        turn("2"),
        pauses(folder, "3"),
        turn("1"),
        ...turns().slice(3),
      ]);

      const before = logText(folder);
      expect(inShort(linesIn(before))).toContain("end 2");
      takeAway(folder);
      const { json } = await autopilot(folder, ["resume", "--json"]);
      expect(json.warnings.join(" ")).toContain("Gone from the checkout: quality/EXPLORATION.md");
      expect(json).toMatchObject({ state: "completed", verdict: "verified_with_gaps" });
      const [old = ""] = history(folder);
      expect(old).toMatch(/^2\d{3}-.*\.run_state\.jsonl$/);
      expect(readFileSync(join(folder, "quality/history", old), "utf8")).toBe(before);
      expect(inShort(log(folder))).toEqual([
        "_index",
        "run_start",
        "error 1 recoverable",
        ...[1, 2, 3, 4, 5, 6].flatMap((p) => [`start ${p}`, `end ${p}`]),
        "run_end success",
      ]);

      expect(named(log(folder), "error")[0]?.["message"]).toMatch(/gone/);
      expect(eventsOf(folder, "turn_ended").map((entry) => String(entry["attempt"]))).toEqual([
      "1@1/do#1", "2@1/do#1", "1@2/do#1", "3@1/do#1", "4@1/do#1", "5@1/do#1", "6@1/do#1",
    ]); // prettier-ignore

      expect(existsSync(join(folder, "quality/EXPLORATION.md"))).toBe(true);
      expect(git(folder, "status", "--porcelain", "--", "quality/EXPLORATION.md")).toBe("");
      expect(faultsIn(logText(folder), 2)).toEqual([]);
      expect(faultsIn(before)).toEqual([]);
    },
  );

  longTest(
    "artifacts of two phases deleted: one new log, each of the two runs again once, and the one between them is closed in its place",
    "src/playbooks/quality/views/quality-log.test.ts › two phases done again at once: one new log, each of them open in it, the others closed in their place",
    async () => {
      const folder = shop();
      await pausedIn(folder, "4", [
        turn("1"),
        turn("2"),
        turn("3"),
        pauses(folder, "4"),
        turn("1"),
        turn("3"),
        ...turns().slice(4),
      ]);

      rmSync(join(folder, "quality/EXPLORATION.md"));
      rmSync(join(folder, "quality/code_reviews"), { recursive: true });
      const { json } = await autopilot(folder, ["resume", "--json"]);
      expect(json).toMatchObject({ state: "completed", verdict: "verified_with_gaps" });
      expect(eventsOf(folder, "turn_ended").map((entry) => String(entry["attempt"]))).toEqual(
        ["1@1", "2@1", "3@1", "1@2", "3@2", "4@1", "5@1", "6@1"].map((path) => `${path}/do#1`),
      );

      expect(history(folder)).toHaveLength(1);
      expect(inShort(log(folder))).toEqual([
        "_index",
        "run_start",
        "error 1 recoverable",
        "error 3 recoverable",
        ...[1, 2, 3, 4, 5, 6].flatMap((p) => [`start ${p}`, `end ${p}`]),
        "run_end success",
      ]);

      expect(git(folder, "status", "--porcelain", "--untracked-files=no")).toBe("");
      expect(faultsIn(logText(folder), 2)).toEqual([]);
    },
  );

  /**
   * Paused in its second phase, it is continued on another branch, with half of its log's last line
   * gone, to its end.
   */
  const continuedElsewhere = once(async () => {
    const folder = shop();
    await pausedIn(folder, "2", turns({ "2": pauses(folder, "2") }));
    const sound = logText(folder);
    git(
      folder,
      "switch",
      "-q",
      "-c",
      "elsewhere",
      git(folder, "rev-list", "--max-parents=0", "HEAD"),
    );

    expect(existsSync(join(folder, "quality/EXPLORATION.md"))).toBe(false);
    writeFileSync(join(folder, "quality/run_state.jsonl"), sound.slice(0, -20));
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      state: "completed",
    });

    return { folder, sound };
  });

  longTest(
    "nothing is missed that was never landed: on another branch the artifacts are not gone",
    "test/quality/again.test.ts › an artifact %s after its phase_end: the log moves to history, the phase runs again, and the file is back in the checkout",
    async () => {
      const { folder } = await continuedElsewhere();
      expect(history(folder)).toEqual([]);
      expect(eventsOf(folder, "phase_reopened")).toEqual([]);
    },
  );

  longTest(
    "a log that somebody changed is left as it is and told; moved away, it is drawn anew",
    "src/playbooks/quality/files/quality-log-file.test.ts › %s: it differs from that line on, and stays",
    async () => {
      const folder = shop();
      await pausedIn(folder, "2", turns({ "2": pauses(folder, "2", 2) }));
      const sound = logText(folder);
      const forged = sound.replace('"findings_total":3', '"findings_total":9');
      expect(forged).not.toBe(sound);
      writeFileSync(join(folder, "quality/run_state.jsonl"), forged);
      const { child, ended } = begin(folder, ["resume", "--json"]);
      await until("the run goes on", () => wasCut(folder, 2));
      await autopilot(folder, ["pause", "--now", "--json"]);
      const { json } = await ended;
      expect(child.exitCode).toBe(0);
      expect(json.warnings.join(" ")).toMatch(
        /run_state\.jsonl is not what the journal yields, from line \d+ on/,
      );

      expect(logText(folder)).toBe(forged);
      expect(progress(folder)).toMatch(/^ERROR: log_differs — /m);
      expect(eventsOf(folder, "document_differed")).toMatchObject([
        { path: "quality/run_state.jsonl" },
      ]);

      renameSync(join(folder, "quality/run_state.jsonl"), join(folder, "quality/forged.txt"));
      expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
        state: "completed",
      });

      expect(logText(folder).startsWith(sound)).toBe(true);
      expect(progress(folder)).not.toContain("log_differs");
      expect(faultsIn(logText(folder), 2)).toEqual([]);
    },
  );

  longTest(
    "a line that a crash cut in half is completed; a line too many is not touched",
    "src/playbooks/quality/files/quality-log-file.test.ts › %s: it differs from that line on, and stays",
    async () => {
      const { folder, sound } = await continuedElsewhere();
      const whole = logText(folder);
      expect(whole.startsWith(sound)).toBe(true);
      appendFileSync(join(folder, "quality/run_state.jsonl"), '{"event":"error"}\n');
      const validated = await autopilot(folder, ["validate", "quality/run_state.jsonl", "--json"]);
      expect(validated.code).toBe(1);
      expect(logText(folder)).toBe(`${whole}{"event":"error"}\n`);
    },
  );
});

describe("after a run that ended", () => {
  const audited = rewound(async () => {
    const folder = shop();
    await audit(folder);
    return folder;
  });

  test("a new run where an ended log lies: it moves to history, phases that their artifacts prove are closed at once, and one that has lost them runs", async () => {
    const folder = await audited();
    const before = logText(folder);
    git(folder, "rm", "-q", "quality/RUN_SPEC_AUDIT.md");
    git(folder, "commit", "-q", "-m", "away with it");
    const { json } = await audit(folder);
    // What an earlier run left proves its phases by the letter; that nobody looked again is a gap.
    expect(json).toMatchObject({
      result: "WARN",
      state: "completed",
      verdict: "verified_with_gaps",
    });

    expect(json["gaps"]).toEqual([
      gatesGap,
      expect.stringMatching(/^regression_tests: /),
      expect.stringMatching(
        /^made_here: phases 1, 3, 4, 5: this run changed none of the documents/,
      ),
    ]);

    const [old = ""] = history(folder);
    expect(readFileSync(join(folder, "quality/history", old), "utf8")).toBe(before);
    expect(inShort(log(folder))).toEqual([
      "_index",
      "run_start",
      "error - recoverable",
      ...[1, 2, 3, 4, 5, 6].flatMap((p) => [`start ${p}`, `end ${p}`]),
      "run_end success",
    ]);

    expect(eventsOf(folder, "turn_ended").map((entry) => String(entry["attempt"]))).toEqual([
      "2@1/do#1",
      "6@1/do#1",
    ]);

    expect(faultsIn(logText(folder), 2)).toEqual([]);
  });

  test("artifacts without a log are no reason to skip anything: the run begins afresh; an agent that then does nothing leaves a gap and has written nothing", async () => {
    const folder = await audited();
    rmSync(join(folder, "quality/run_state.jsonl"));
    const { json } = await audit(folder, []);
    expect(json).toMatchObject({
      result: "WARN",
      state: "completed",
      verdict: "verified_with_gaps",
    });

    expect(json["gaps"]).toEqual([
      gatesGap,
      expect.stringMatching(/^regression_tests: /),
      expect.stringMatching(/^made_here: phases 1, 2, 3, 4, 5: this run changed none/),
    ]);

    expect(named(log(folder), "artifact_written").map((line) => line["relative_path"])).toEqual([
      "quality/results/quality-gate.log",
    ]);

    expect(faultsIn(logText(folder), 2)).toEqual([]);
    expect(eventsOf(folder, "turn_ended")).toHaveLength(6);
    expect(history(folder)).toEqual([]);
  });
});
