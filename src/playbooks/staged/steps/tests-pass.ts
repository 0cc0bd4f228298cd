// tests-pass: proof that the project's own test command passes on a commit, whatever its earlier
// result.

import type { Check, CheckResult } from "../../../contracts/evidence.ts";
import { whyTrivial } from "../../../documents/trivial-command.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { detectChecks } from "../../../verify/detect/detect.ts";
import { isRecord } from "../../../verify/detect/manifest.ts";
import { selectTestChecks } from "../../../verify/detect/select-test-checks.ts";
import { checkCommit, toProof } from "../../contract/check-commit.ts";
import { viewCommit, type TreeView } from "./tree-view.ts";

const testScript = "scripts/run-tests.sh";
const manifestNames =
  /^(?:package\.json|pyproject\.toml|Cargo\.toml|go\.mod|[Mm]akefile|GNUmakefile)$/;

/**
 * The proof `tests_pass`. It uses the test commands found when the run was drafted; if there were
 * none, searches the commit for one.
 */
export function createTestsPassProof(verifier: Verifier, workspace: Workspace) {
  return {
    version: 1,
    async prove(input: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const draftedTests = selectTestChecks(
        input.state.drafted.checks.filter(({ kind }) => kind === "project"),
      );
      const tests =
        draftedTests.length > 0
          ? { checks: draftedTests, faults: [] }
          : await detectTests(await viewCommit(workspace, input.commit));
      if (tests.checks.length === 0 || tests.faults.length > 0) {
        return {
          ok: false,
          facts: { checks: 0 },
          detail: [...tests.faults, ...(tests.checks.length === 0 ? [noTestsFound] : [])].join(
            "; ",
          ),
        };
      }

      const { base, objective } = input.state.drafted;
      // The project's tests are all that decides here, so they are tried out as criteria are.
      const checked = await checkCommit(verifier, input, {
        checks: tests.checks,
        base: base.commit,
        goal: objective.goal,
      });
      const failedTests = checked.results.filter(
        ({ check, status, quarantined }) =>
          check.kind === "project" && status !== "passed" && quarantined === undefined,
      );

      return toProof(checked, failedTests.map(describeFailedTest));
    },
  };
}

const describeFailedTest = ({ check, status, exit_code }: CheckResult): string =>
  `${check.command}: ${status}${exit_code === null ? "" : `, exit ${exit_code}`}`;

const noTestsFound = `no test command was found, expected ${testScript} or one that the project's manifest names (npm, pytest, cargo, go, make)`;

/** The test script, else the test command that a manifest names. */
async function detectTests(
  tree: TreeView,
): Promise<{ readonly checks: readonly Check[]; readonly faults: readonly string[] }> {
  if (tree.paths.includes(testScript)) {
    return {
      checks: [
        {
          id: "project:run-tests",
          kind: "project",
          title: testScript,
          command: `sh ${testScript}`,
          source: testScript,
        },
      ],
      faults: [],
    };
  }

  const texts = new Map<string, string | null>();
  for (const path of tree.paths.filter((candidate) => manifestNames.test(candidate))) {
    texts.set(path, await tree.read(path));
  }

  const { checks } = detectChecks({
    files: new Set(tree.paths),
    read: (path) => texts.get(path) ?? null,
  });

  const trivialReason = findTrivialTest(texts.get("package.json") ?? null);
  const faults =
    trivialReason === null ? [] : [`package.json scripts.test proves nothing: ${trivialReason}`];
  return { checks: selectTestChecks(checks), faults };
}

/** Why the test script of package.json cannot fail; null if it can. */
function findTrivialTest(manifest: string | null): string | null {
  try {
    const parsed: unknown = JSON.parse(manifest ?? "{}");
    const scripts = isRecord(parsed) ? parsed["scripts"] : undefined;
    const test = isRecord(scripts) ? scripts["test"] : undefined;

    return typeof test === "string" ? whyTrivial(test, null) : null;
  } catch {
    return null; // invalid JSON: the check detection reports it
  }
}
