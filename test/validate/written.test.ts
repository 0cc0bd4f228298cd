// Every file that real runs write by themselves is known to validate, and valid: after a roadmap
// with a failure, an audit, a staged project.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writtenFiles } from "../../src/playbooks/contract/written-files.ts";
import { artifact, project, quiet, turnsOf, goArgs } from "../roadmap-files/project.ts";
import { audit, bare } from "../quality/audit.ts";
import { commit, draft, goStaged, greenfield, problem } from "../staged/project.ts";
import { autopilot } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";

type Judged = {
  readonly path: string;
  readonly format: string;
  readonly valid: boolean;
  readonly violations: readonly unknown[];
};

/**
 * Every file of a checkout that the runner wrote: all of its own folder but the runs', and whatever
 * is registered elsewhere.
 */
function writtenIn(folder: string): readonly string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name).slice(folder.length + 1));

  const isOwn = (path: string): boolean =>
    /^\.autopilot\/(?!runs\/|inbox|\.gitignore$|current$|drafts|.*\.lock$)/.test(path);
  return all.filter((path) => isOwn(path) || writtenFiles.some((file) => file.path.test(path)));
}

async function expectKnown(folder: string, formats: readonly string[]): Promise<void> {
  const paths = writtenIn(folder);
  const { json } = await autopilot(folder, ["validate", ...paths, "--json"]);
  const files = json["files"] as readonly Judged[];
  expect(files.filter(({ format }) => format === "unknown").map(({ path }) => path)).toEqual([]);
  expect(files.filter(({ valid }) => !valid)).toEqual([]);
  expect([...new Set(files.map(({ format }) => format))].toSorted()).toEqual(formats);
  // A folder finds the same files by itself.
  const whole = (await autopilot(folder, ["validate", ".", "--json"])).json[
    "files"
  ] as readonly Judged[];
  const found = new Set(whole.map(({ path }) => path.replace(/^\.\//, "")));
  expect(paths.filter((path) => !found.has(path))).toEqual([]);
}

describe.concurrent("what a run writes", () => {
  longTest(
    "of a roadmap: a phase that is completed, one that the judge rejects, one that is blocked by it",
    "src/playbooks/contract/written-files.test.ts › $example is a $format to validate",
    async () => {
      const phases = [
        { id: "1", name: "One" },
        { id: "2", name: "Two", after: ["1"] },
        { id: "3", name: "Three", after: ["2"] },
      ];
      const folder = project(phases);
      const [first, second] = phases;
      if (first === undefined || second === undefined) throw new Error("two phases");

      const rejected = turnsOf(second).map((turn) =>
        (turn["when"] as { readonly step: string }).step === "judge"
          ? {
              ...turn,
              returns: {
                ...(turn["returns"] as object),
                alignment_score: 2,
                recommendation: "rollback",
                concerns: [`${artifact("2")} is a word`],
              },
            }
          : turn,
      );
      await autopilot(
        folder,
        goArgs(folder, [...turnsOf(first), ...rejected], ["--complete"]),
        quiet,
      );

      await expectKnown(folder, [
        "completion page",
        "completion report",
        "diagnostic",
        "execution log",
        "learnings",
        "metrics",
        "post-mortem",
        "post-mortem page",
        "roadmap state",
        "trace",
        "triage",
        "verification page",
      ]);
    },
  );

  longTest(
    "of an audit without documentation",
    "test/validate/written.test.ts › of a staged project",
    async () => {
      const folder = bare();
      await audit(folder);
      await expectKnown(folder, ["quality gate log", "quality progress", "quality run_state"]);
    },
  );

  test("of a staged project", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft });
    await goStaged(folder, "greenfield", greenfield);
    await expectKnown(folder, ["staged state"]);
  });
});
