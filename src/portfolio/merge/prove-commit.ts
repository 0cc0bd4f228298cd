// prove-commit: runs checks on a commit in a fresh checkout, with the isolation and the policy of
// the repository's own config.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Guardian, openGuardian } from "../../agents/process/guardian.ts";
import type { Check, CheckResult, Evidence } from "../../contracts/evidence.ts";
import type { Criterion } from "../../contracts/portfolio-journal.ts";
import { toCommandKey } from "../../verify/same-command.ts";
import { detectChecks } from "../../verify/detect/detect.ts";
import { detectRestores } from "../../verify/detect/detect-restore.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { openSandboxedVerifier } from "../../runner/sandboxed-checks.ts";
import { loadTree } from "../../runner/draft/collect-checks.ts";
import { openIsolation } from "../../runner/draft/open-isolation.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { buildPolicy } from "../../runner/draft/run-policy.ts";
import { requireSettings } from "../../project/config/settings.ts";

export type CommitProof = {
  readonly passed: boolean;
  readonly evidence: readonly string[];
  /** The names of the checks that failed, for people. */
  readonly failed: readonly string[];
  readonly cancelled: boolean;
};

const excerptCharsMax = 1500;

export type ProofRequest = {
  readonly commit: string;
  readonly criteria: readonly Criterion[];
  /** Further checks that must pass. */
  readonly extraChecks?: readonly Check[] | undefined;
  /**
   * `toCommandKey` of each of the project's checks that failed before the work and still fails: it
   * need not pass.
   */
  readonly failingBefore?: ReadonlySet<string> | undefined;
  readonly folder: string;
  readonly isolation?: string | undefined;
};

/**
 * Runs the commands of all criteria and the project's own checks on this commit; without any
 * command it counts as passed.
 */
export async function proveCommit(
  context: CommandContext,
  repository: Repository,
  request: ProofRequest,
): Promise<CommitProof> {
  const paths = { root: repository.root, folder: join(repository.root, ".autopilot") };
  const settings = requireSettings(context, paths, { isolation: request.isolation });
  const tree = await loadTree(repository.root, request.commit);
  const checks = selectChecks(request, detectChecks(tree, settings.config.checks ?? {}).checks);
  if (checks.length === 0) {
    return { passed: true, evidence: ["no command to run"], failed: [], cancelled: false };
  }

  const policy = buildPolicy(
    settings.config,
    detectRestores(tree, settings.config.checks?.restore ?? "copy"),
  );

  const isolation = await openIsolation(settings.isolation, paths, request.folder);
  const workspace = await openWorkspace({
    repository,
    runDir: join(request.folder, "run"),
    runId: "run-2000-01-01-000000", // nothing is written, so no branch gets this name
    base: { branch: null, commit: request.commit },
    scope: [],
    ownedPaths: [],
    isLookOnly: true,
    ...(policy.dependencies === undefined ? {} : { dependencies: policy.dependencies }),
    ...(policy.restores === undefined ? {} : { checkDependencies: [] }),
  });

  const guardianMark = randomUUID();
  let guardian: Guardian | null = null;
  const evidence: Evidence[] = [];

  const verifier = openSandboxedVerifier({
    workspace,
    isolation,
    policy,
    root: repository.root,
    folder: request.folder,
    // Nothing is stored: of the blobs only the evidence is read, for its excerpt of the output.
    putBlob: (bytes) => {
      const text = Buffer.from(bytes).toString("utf8");
      if (text.startsWith('{"check"')) evidence.push(JSON.parse(text) as Evidence);
      return Promise.resolve("0".repeat(64));
    },
    guard: (processMark) => (guardian ??= openGuardian(guardianMark)).alsoEnd(processMark),
  });

  const attempt = {
    attempt: "merge@1/prove#1",
    checks,
    commit: request.commit,
    cancel: context.interrupted,
    onLiveEvent: () => undefined,
  };

  try {
    const results = await verifier.check(attempt);
    const failures = results.filter(
      ({ status, quarantined }) => status !== "passed" && quarantined === undefined,
    );

    return {
      passed: results.length >= checks.length && failures.length === 0,
      failed: failures.map(({ check }) => describeCheck(check)),
      cancelled: context.interrupted.aborted,
      evidence: results.map((result) => describeResult(result, evidence)),
    };
  } finally {
    (guardian as Guardian | null)?.leave(); // the compiler doesn't see that `guard` sets it
  }
}

/**
 * The criteria's commands and further checks, then the project's own checks that are not among them
 * and need to pass.
 */
function selectChecks(
  { criteria, extraChecks = [], failingBefore }: ProofRequest,
  detected: readonly Check[],
): readonly Check[] {
  const required = [
    ...criteria.flatMap(({ text, command }, index): Check[] =>
      command === null
        ? []
        : [
            {
              id: `criterion:${index + 1}`,
              kind: "criterion",
              title: text,
              command,
              source: "task",
            },
          ],
    ),
    ...extraChecks,
  ];
  const requiredKeys = new Set(required.map(({ command }) => toCommandKey(command)));
  const isWanted = (key: string): boolean =>
    !requiredKeys.has(key) && failingBefore?.has(key) !== true;

  return [...required, ...detected.filter(({ command }) => isWanted(toCommandKey(command)))];
}

/** A hold-out's command is secret: whoever reads this may be the agent. */
const describeCheck = ({ kind, title, command }: Check): string =>
  kind === "holdout" ? title : command;

function describeResult(
  { check, status, why }: CheckResult,
  evidence: readonly Evidence[],
): string {
  const headline = `${status}: ${describeCheck(check)}${why === undefined ? "" : ` (${why})`}`;
  if (status === "passed" || check.kind === "holdout") return headline;
  const output = evidence.findLast((record) => record.check.id === check.id)?.output_excerpt ?? "";

  return [headline, output.slice(-excerptCharsMax).trim()].filter((text) => text !== "").join("\n");
}
