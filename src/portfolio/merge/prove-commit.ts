// prove-commit: runs checks on a commit in a fresh checkout, with the isolation and the policy of
// the repository's own config.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Guardian, openGuardian } from "../../agents/process/guardian.ts";
import type { Check, CheckResult, Evidence } from "../../contracts/evidence.ts";
import type { Criterion } from "../../contracts/portfolio/portfolio-journal.ts";
import { isSecretFromAgent, nameForAgent } from "../../contracts/secret-checks.ts";
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

  const restores = detectRestores(tree, settings.config.checks?.restore ?? "copy");
  const policy = buildPolicy(settings.config, restores);
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

  const place = { workspace, isolation, policy, root: repository.root, folder: request.folder };
  return runChecks(context, place, { checks, commit: request.commit });
}

type ProofPlace = Pick<
  Parameters<typeof openSandboxedVerifier>[0],
  "workspace" | "isolation" | "policy" | "root" | "folder"
>;

async function runChecks(
  context: CommandContext,
  place: ProofPlace,
  { checks, commit }: { readonly checks: readonly Check[]; readonly commit: string },
): Promise<CommitProof> {
  const evidence: Evidence[] = [];
  const guardianMark = randomUUID();
  let guardian: Guardian | null = null;

  const verifier = openSandboxedVerifier({
    ...place,
    putBlob: (bytes) => {
      collectEvidence(evidence, bytes);
      return Promise.resolve("0".repeat(64)); // nothing is stored
    },
    guard: (processMark) => (guardian ??= openGuardian(guardianMark)).alsoEnd(processMark),
  });

  try {
    const results = await verifier.check({
      attempt: "merge@1/prove#1",
      checks,
      commit,
      cancel: context.interrupted,
      onLiveEvent: () => undefined,
    });
    const failures = results.filter(
      ({ status, quarantined }) => status !== "passed" && quarantined === undefined,
    );

    return {
      passed: results.length >= checks.length && failures.length === 0,
      failed: failures.map(({ check }) => nameForAgent(check)),
      cancelled: context.interrupted.aborted,
      evidence: results.map((result) => describeResult(result, evidence)),
    };
  } finally {
    (guardian as Guardian | null)?.dismiss(); // the compiler doesn't see that `guard` sets it
  }
}

/** Of the blobs only the evidence is read, for its excerpt of the output. */
function collectEvidence(evidence: Evidence[], bytes: Uint8Array): void {
  const text = Buffer.from(bytes).toString("utf8");
  if (text.startsWith('{"check"')) evidence.push(JSON.parse(text) as Evidence);
}

/**
 * The criteria's commands and further checks, then the project's own checks that are not among them
 * and need to pass.
 */
function selectChecks(
  { criteria, extraChecks = [], failingBefore = new Set() }: ProofRequest,
  detected: readonly Check[],
): readonly Check[] {
  const required = [...criteria.flatMap(toCheck), ...extraChecks];
  const unwantedKeys = new Set(failingBefore);
  for (const { command } of required) unwantedKeys.add(toCommandKey(command));

  const wanted = detected.filter(({ command }) => !unwantedKeys.has(toCommandKey(command)));
  return [...required, ...wanted];
}

/** Empty for a criterion that only a person can judge. */
function toCheck({ text, command }: Criterion, index: number): readonly Check[] {
  if (command === null) return [];

  const id = `criterion:${index + 1}`;
  return [{ id, kind: "criterion", title: text, command, source: "task" }];
}

function describeResult(
  { check, status, why }: CheckResult,
  evidence: readonly Evidence[],
): string {
  const whyText = why === undefined ? "" : ` (${why})`;
  const headline = `${status}: ${nameForAgent(check)}${whyText}`;
  if (status === "passed" || isSecretFromAgent(check)) return headline;

  const record = evidence.findLast((candidate) => candidate.check.id === check.id);
  const excerpt = (record?.output_excerpt ?? "").slice(-excerptCharsMax).trim();
  return excerpt === "" ? headline : `${headline}\n${excerpt}`;
}
