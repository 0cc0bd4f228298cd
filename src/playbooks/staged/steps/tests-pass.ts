// tests-pass: a named proof: the project's own test command passes on this commit, whatever its earlier result.

import type { Check } from "../../../contracts/evidence.ts";
import { trivialBecause } from "../../../documents/trivial-command.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { testsBefore } from "../../../engine/protected-files.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { detectChecks } from "../../../verify/detect/detect.ts";
import { isRecord } from "../../../verify/detect/manifest.ts";
import { testChecksAmong } from "../../../verify/detect/tests-among.ts";
import { lookAtCommit, type TreeLook } from "./tree-look.ts";

const script = "scripts/run-tests.sh";
const manifests = /^(?:package\.json|pyproject\.toml|Cargo\.toml|go\.mod|[Mm]akefile|GNUmakefile)$/;

/** The checks known when the run began decide, with its protected files as they were then; a project that had none is searched now. */
export function testsPass(verifier: Verifier, workspace: Workspace) {
  return {
    version: 1,
    async prove({ attempt, state, commit, cancel, onLiveEvent }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const { base, objective, checks: known } = state.drafted;
      const begunWith = testChecksAmong(known.filter(({ kind }) => kind === "project"));
      const found = begunWith.length > 0 ? { checks: begunWith, faults: [] } : await testsIn(await lookAtCommit(workspace, commit));
      if (found.checks.length === 0 || found.faults.length > 0)
        return { ok: false, facts: { checks: 0 }, detail: [...found.faults, ...(found.checks.length === 0 ? [noneFound] : [])].join("; ") };
      const { changes } = await verifier.oracles({
        base: base.commit,
        commit,
        scope: objective.scope,
        approved: state.approved ?? [],
        checks: known,
      });
      const refused = changes.filter(({ allowed }) => allowed === null);
      const oracles = refused.length === 0 ? {} : { oracles: { base: base.commit, changes: refused } };
      const results = await verifier.check({
        attempt,
        checks: found.checks,
        commit,
        cancel,
        onLiveEvent,
        ...testsBefore(state, changes),
        ...oracles,
      });
      const red = results.filter(
        ({ check, status, quarantined }) => check.kind === "project" && status !== "passed" && quarantined === undefined,
      );
      const detail = [
        ...refused.map(({ path, how }) => `${path} (${how}) judges this work and was changed by it`),
        ...red.map(({ check, status, exit_code }) => `${check.command}: ${status}${exit_code === null ? "" : `, exit ${exit_code}`}`),
      ].join("; ");
      return {
        ok: detail === "",
        facts: { checks: results.length, ...(refused.length === 0 ? {} : { oracles: "changed" }) },
        checks: results,
        detail,
      };
    },
  };
}

const noneFound = `no test command was found, expected ${script} or one that the project's manifest names (npm, pytest, cargo, go, make)`;

async function testsIn(tree: TreeLook): Promise<{ readonly checks: readonly Check[]; readonly faults: readonly string[] }> {
  if (tree.paths.includes(script))
    return { checks: [{ id: "project:run-tests", kind: "project", title: script, command: `sh ${script}`, source: script }], faults: [] };
  const texts = new Map<string, string | null>();
  for (const path of tree.paths.filter((candidate) => manifests.test(candidate))) texts.set(path, await tree.read(path));
  const { checks } = detectChecks({ files: new Set(tree.paths), read: (path) => texts.get(path) ?? null });
  const why = trivialTest(texts.get("package.json") ?? null);
  return { checks: testChecksAmong(checks), faults: why === null ? [] : [`package.json scripts.test proves nothing: ${why}`] };
}

/** A test script that cannot fail is none. */
function trivialTest(manifest: string | null): string | null {
  try {
    const read: unknown = JSON.parse(manifest ?? "{}");
    const scripts = isRecord(read) ? read["scripts"] : undefined;
    const test = isRecord(scripts) ? scripts["test"] : undefined;
    return typeof test === "string" ? trivialBecause(test, null) : null;
  } catch {
    return null; // what cannot be read isn't a manifest, and the detector says so
  }
}
