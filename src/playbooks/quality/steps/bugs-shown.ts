// bugs-shown: tries every confirmed bug's regression test itself, on the code as it is: a test that passes shows no bug.
//
// Invariants:
//   B1. A bug is shown when the project's tests pass, and fail with its patch. What is written in a log does not count.
//   B2. The failure is the new test's: every test that passed without the patch still passes with it, as far as tests are counted.
//   B3. Where there is a fix, the test passes with both.
//   B4. A project without tests that run, or whose tests fail already, decides nothing here, and says so.

import { createHash } from "node:crypto";
import * as v from "valibot";
import { Evidence, type Check, type CheckResult, type TestTally } from "../../../contracts/evidence.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { testChecksAmong } from "../../../verify/detect/tests-among.ts";
import { findBugIds } from "./counted-in.ts";
import { openQualityTree, type QualityTree } from "./quality-tree.ts";

type Parts = {
  readonly verifier: Pick<Verifier, "check">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt">;
};
type StepInput = FunctionInput<RunView, CursorView>;

const triedMax = 20;
const doesNotApply = 87;
export const testPatch = (id: string): string => `quality/patches/${id}-regression-test.patch`;
export const fixPatch = (id: string): string => `quality/patches/${id}-fix.patch`;

export const bugsShown = (parts: Parts) => ({
  version: 1,
  prove: async (input: StepInput): Promise<FunctionResult> => {
    const tree = await openQualityTree(parts.workspace, input.commit);
    const all = [...new Set(findBugIds(await tree.text("quality/BUGS.md")))];
    const bugs = all.filter((id) => tree.has(testPatch(id)));
    if (bugs.length === 0) return { ok: true, facts: {} };
    const [test] = testChecksAmong(input.state.drafted.checks.filter(({ kind }) => kind === "project"));
    if (test === undefined) return undecided("no test command of this project is known"); // B4
    const run = async (checks: readonly Check[]): Promise<readonly CheckResult[]> => {
      const { attempt, commit, cancel, onLiveEvent } = input;
      const results = await parts.verifier.check({ attempt, checks, commit, cancel, onLiveEvent });
      return results.filter(({ check }) => check.kind === "proof");
    };
    const [plain] = await run([tried("tests", "the tests, as they are", test.command)]);
    if (plain?.status !== "passed") return undecided(`the tests do not pass without any patch: ${test.command}`); // B4
    const results = await run(bugs.slice(0, triedMax).flatMap((id) => triesOf(tree, id, test)));
    const found = bugs.slice(0, triedMax).map((id) => ({ id, why: whyNotShown(id, results, plain.tests) }));
    const wrong = found.filter(({ why }) => why !== null);
    const facts = {
      bugs_tried: found.length,
      bugs_shown: found.length - wrong.length,
      bugs_untried: bugs.length - found.length,
      patches: await patchesOf(tree, all),
    };
    const detail = wrong.map(({ id, why }) => `${id}: ${why}`).join("; ");
    return { ok: wrong.length === 0, facts, checks: [plain, ...results], ...(detail === "" ? {} : { detail }) };
  },
});

/** The patches of these bugs by content, so that one that was changed after it was tried is seen. */
export async function patchesOf(tree: QualityTree, bugs: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of bugs.toSorted().flatMap((id) => [testPatch(id), fixPatch(id)]))
    hash.update(JSON.stringify([path, await tree.text(path)]));
  return hash.digest("hex");
}

const undecided = (why: string): FunctionResult => ({ ok: true, facts: { bugs_undecided: why } });

const tried = (id: string, title: string, command: string): Check => ({
  id: `bug:${id}`,
  kind: "proof",
  title,
  command,
  source: "the audit",
});

/** With the test; and with the fix as well, if there is one. The ids hold letters, digits and dashes only. */
function triesOf(tree: QualityTree, id: string, { command }: Check): readonly Check[] {
  const apply = (path: string): string =>
    `{ GIT_CEILING_DIRECTORIES="$(dirname "$PWD")" git apply -p1 '${path}' || { echo '${path} does not apply'; exit ${doesNotApply}; }; }`;
  const red = tried(id, `${id}: its regression test`, `${apply(testPatch(id))} && { ${command}\n}`);
  const green = tried(
    `${id}:fixed`,
    `${id}: its regression test, with the fix`,
    `${apply(testPatch(id))} && ${apply(fixPatch(id))} && { ${command}\n}`,
  );
  return tree.has(fixPatch(id)) ? [red, green] : [red];
}

/** Why a bug is not shown; null if it is. */
export function whyNotShown(id: string, results: readonly CheckResult[], before: TestTally | undefined): string | null {
  const of = (name: string): CheckResult | undefined => results.find(({ check }) => check.id === `bug:${name}`);
  const [red, green] = [of(id), of(`${id}:fixed`)];
  if (red === undefined || !["passed", "failed"].includes(red.status))
    return `its regression test could not be run (${red?.status ?? "not tried"})`;
  if (red.exit_code === doesNotApply) return `${testPatch(id)} does not apply to the code`;
  if (red.status === "passed") return "the project's tests pass with its regression test, so it shows no bug";
  const [passing, now] = [passedOf(before), passedOf(red.tests)];
  if (passing !== null && now !== null && now < passing)
    return `with its regression test ${now} tests pass, and ${passing} without it: it has to add a test that fails, and break no other`; // B2
  if (green?.exit_code === doesNotApply) return `${fixPatch(id)} does not apply to the code with the test`;
  if (green !== undefined && green.status !== "passed") return "its regression test fails with its fix as well"; // B3
  return null;
}

const passedOf = (tests: TestTally | undefined): number | null =>
  tests === undefined || tests.ran === 0 ? null : tests.ran - tests.failed - tests.skipped;

/** The log that the audit keeps of a try; null if its output was not kept. */
export function logOfTry(result: CheckResult, readBlob: (hash: string) => Buffer | null): string | null {
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), Evidence), readBlob(result.evidence)?.toString("utf8"));
  if (!read.success) return null;
  const { output_hash: hash, output_excerpt: excerpt, exit_code: code, at } = read.output;
  const output = (hash === null ? null : readBlob(hash)?.toString("utf8")) ?? excerpt;
  return `Written by the runner, which applied ${testPatch(result.check.id.slice("bug:".length))} and ran the project's tests.\n$ ${result.check.command}\nexit ${code ?? "by a signal"}, ${at}\n\n${output}`;
}
