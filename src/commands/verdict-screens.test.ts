// Every screen that says what a run's work is worth says it in the words that are made from its
// verdict.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verdicts } from "../contracts/objective.ts";
import type { Run } from "../core/state.ts";
import { completionCodes } from "../core/verdict.ts";
import { buildRunResponse } from "../runner/run-response.ts";
import { describeRunEvent } from "../views/log-lines.ts";
import { describeEnding } from "../views/next-actions.ts";
import { reportPage } from "../views/report-page.ts";
import { buildReportView } from "../views/report.ts";
import { entryOf, phases, runView, sha, cursor } from "../views/run-view.test-support.ts";
import { statusPage } from "../views/status-page.ts";
import {
  describeProof,
  formatVerdict,
  describeProofAndLanding,
} from "../views/sentences/verdict-sentences.ts";
import type { Landing } from "../views/sentences/landing-sentence.ts";
import { runBranchName } from "../contracts/run-branch.ts";

const landings = ["landed", "kept", "nothing"] as const satisfies readonly Landing[];
const gaps = ["nobody looked at c2"];
const branch = runBranchName(runView().drafted.run_id);

function completed(verdict: (typeof verdicts)[number], landing: Landing): Run {
  const merge = {
    kind: landing === "landed" ? ("passed" as const) : ("failed" as const),
    facts: {
      landed: landing === "landed",
      ...(landing === "kept" ? { why: "work_unproved" } : {}),
    },
    says: {},
    reason: landing === "landed" ? "landed" : "work_unproved",
    detail: null,
    checks: [],
  };

  return runView({
    status: "completed",
    reason: completionCodes[verdict],
    verdict,
    gaps: verdict === "verified" ? [] : gaps,
    phases: phases("completed", "completed", "completed"),
    cursors: {
      "1": cursor("1", []),
      ...(landing === "nothing"
        ? {}
        : { "after.land": { ...cursor("after.land", []), last: { merge } } }),
    },
    ...(landing === "nothing" ? {} : { tip: { commit: sha("c"), tree: sha("d") } }),
  });
}

describe.each(verdicts)("%s", (verdict) => {
  const known = verdict === "verified" ? [] : gaps;
  test.each(landings)("%s", (landing) => {
    const run = completed(verdict, landing);
    const text = describeProofAndLanding({ verdict, gaps: known, landing, branch });
    expect(describeEnding(run)).toBe(text);

    const screens = {
      go: buildRunResponse(run, "", []).message,
      report: reportPage(buildReportView(run, [])).join("\n"),
      status: statusPage(run, null).join("\n"),
      log: describeRunEvent(
        entryOf(
          {
            event: "run_completed",
            actor: "system",
            reason_code: completionCodes[verdict],
            from_state: "running",
            to_state: "completed",
            verdict,
            gaps: known,
          },
          9,
        ),
      ),
    };
    expect(screens.go).toContain(text);
    expect(screens.report.replaceAll(/\s+/g, " ")).toContain(text);
    expect(screens.log).toContain(describeProof(verdict, known));
    expect(screens.status).toContain(formatVerdict(verdict));
    expect(screens.status).toContain(text);

    for (const screen of Object.values(screens)) {
      for (const other of verdicts.filter((candidate) => candidate !== verdict)) {
        expect(screen).not.toContain(describeProof(other, []).replace(/\.$/, ""));
      }

      if (landing !== "landed") expect(screen).not.toContain("Merged into your branch");
    }
  });
});

test("no sentence about the worth of work stands anywhere else in the source", () => {
  const sentences =
    /verified work|everything asked for (?:was|is) proved|no check proved it|nothing runnable could prove|done; every check passes/i;
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.includes(".test"),
  );
  const found = files.filter((path) =>
    sentences.test(withoutComments(readFileSync(join("src", path), "utf8"))),
  );
  // The table of reason codes has a meaning for each code, and a code is made from the verdict in
  // one place.
  expect(found.toSorted()).toEqual([
    "contracts/reasons/run-reasons.ts",
    "views/sentences/verdict-sentences.ts",
  ]);
});

const withoutComments = (source: string): string =>
  source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
