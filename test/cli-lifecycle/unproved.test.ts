// Nothing unproved lands: it stays on its branch, the sentence says so, and only --land unverified
// merges it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { autopilot, eventsOf, goScripted } from "../support/autopilot.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { done, writes } from "./stories.ts";

const makes = [{ do: [writes("out.txt"), done] }];

test.concurrent("a repository without checks: completed, unverified, and the work stays on its branch", async () => {
  const folder = scratch();
  const head = git(folder, "rev-parse", "HEAD");
  const { json, code } = await goScripted(folder, makes);
  const branch = `autopilot/${json.run_id ?? ""}`;
  expect({ code, result: json.result, reason: json.reason_code, verdict: json["verdict"] }).toEqual(
    {
      code: 0,
      result: "WARN",
      reason: "completion_unverified",
      verdict: "unverified",
    },
  );

  expect(json.message).toContain(`Unproved work isn't merged: it stays on ${branch}.`);
  expect(json.remediation).toContain(`git merge ${branch}`);
  expect({
    head: git(folder, "rev-parse", "HEAD"),
    file: existsSync(join(folder, "out.txt")),
  }).toEqual({ head, file: false });

  expect(git(folder, "show", `${branch}:out.txt`)).toBe("made");
  const shown = await autopilot(folder, ["report"]);
  expect(shown.out).not.toMatch(/verified work|Merged into your branch/);
});

test.concurrent("with --land unverified it is merged, and the sentence says that nothing proved it", async () => {
  const folder = scratch();
  const { json } = await goScripted(folder, makes, ["--land", "unverified"]);
  expect(json).toMatchObject({
    result: "WARN",
    reason_code: "completion_unverified",
    state: "completed",
  });

  expect(json.message).toMatch(/No check proved it.* Merged into your branch\./);
  expect(existsSync(join(folder, "out.txt"))).toBe(true);
});

test.concurrent("--land verified keeps work with gaps in its proof", async () => {
  const folder = scratch();
  const criteria = [
    "--done-criteria",
    "out is there :: test -f out.txt",
    "--done-criteria",
    "it reads well",
  ];

  const { json } = await goScripted(folder, makes, [...criteria, "--land", "verified"]);
  expect(json).toMatchObject({
    reason_code: "completion_with_gaps",
    verdict: "verified_with_gaps",
  });

  expect(json.message).toMatch(/Part of it was not proved.*it reads well.* stays on autopilot\//);
  expect(existsSync(join(folder, "out.txt"))).toBe(false);
  expect(eventsOf(folder, "step_failed")).toMatchObject([{ reason_code: "work_unproved" }]);
});

test.concurrent("a wrong word for --land is a wrong command line", async () => {
  const folder = scratch();
  const { code } = await autopilot(folder, ["go", "x", "--land", "always", "--json"]);
  expect(code).toBe(2);
});
