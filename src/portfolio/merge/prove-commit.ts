// prove-commit: runs checks on a commit in a fresh checkout, with the isolation and the policy of the repository's own config.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Guardian, openGuardian } from "../../agents/process/guardian.ts";
import { type Check, type Evidence } from "../../contracts/evidence.ts";
import type { Criterion } from "../../contracts/portfolio-journal.ts";
import { commandKey } from "../../verify/same-command.ts";
import { detectChecks } from "../../verify/detect/detect.ts";
import { detectRestores } from "../../verify/detect/detect-restore.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { openSandboxedVerifier } from "../../runner/sandboxed-checks.ts";
import { loadTree } from "../../runner/draft/collect-checks.ts";
import { openIsolation } from "../../runner/draft/isolation-for.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { policyOf } from "../../runner/draft/policy.ts";
import { settingsOf } from "../../project/config/settings.ts";

export type Proved = {
  readonly passed: boolean;
  readonly evidence: readonly string[];
  /** The checks that failed, as people are told of them. */
  readonly failed: readonly string[];
  readonly cancelled: boolean;
};

const excerptCharactersMax = 1500;

/** Whether every criterion and the project's own checks hold on this commit. */
export async function proveCommit(
  context: CommandContext,
  repository: Repository,
  order: {
    readonly commit: string;
    readonly criteria: readonly Criterion[];
    /** More that must pass; what is a hold-out is named by its title alone. */
    readonly more?: readonly Check[] | undefined;
    /** Keys of commands of the project that were red before the work and are still. */
    readonly redBefore?: ReadonlySet<string> | undefined;
    readonly folder: string;
    readonly isolation?: string | undefined;
  },
): Promise<Proved> {
  const home = { root: repository.root, folder: join(repository.root, ".autopilot") };
  const settings = settingsOf(context, home, { isolation: order.isolation });
  const tree = await loadTree(repository.root, order.commit);
  const detected = detectChecks(tree, settings.config.checks ?? {});
  const own = [
    ...order.criteria.flatMap(({ text, command }, at): Check[] =>
      command === null ? [] : [{ id: `criterion:${at + 1}`, kind: "criterion", title: text, command, source: "task" }],
    ),
    ...(order.more ?? []),
  ];
  const commands = new Set(own.map(({ command }) => commandKey(command)));
  const isAsked = (key: string): boolean => !commands.has(key) && order.redBefore?.has(key) !== true;
  const checks = [...own, ...detected.checks.filter(({ command }) => isAsked(commandKey(command)))];
  if (checks.length === 0) return { passed: true, evidence: ["no command to run"], failed: [], cancelled: false };
  const policy = policyOf(settings.config, detectRestores(tree, settings.config.checks?.restore ?? "copy"));
  const isolation = await openIsolation(settings.isolation, home, order.folder);
  const workspace = await openWorkspace({
    repository,
    runDir: join(order.folder, "run"),
    runId: "run-2000-01-01-000000", // only looked with: no branch is made
    base: { branch: null, commit: order.commit },
    scope: [],
    ownedPaths: [],
    isLookOnly: true,
    ...(policy.dependencies === undefined ? {} : { dependencies: policy.dependencies }),
    ...(policy.restores === undefined ? {} : { checkDependencies: [] }),
  });
  const life = randomUUID();
  let guardian: Guardian | null = null;
  const blobs: Evidence[] = [];
  const verifier = openSandboxedVerifier({
    workspace,
    isolation,
    policy,
    root: repository.root,
    folder: order.folder,
    putBlob: (bytes) => {
      const text = Buffer.from(bytes).toString("utf8");
      if (text.startsWith('{"check"')) blobs.push(JSON.parse(text) as Evidence);
      return Promise.resolve("0".repeat(64));
    },
    guard: (word) => (guardian ??= openGuardian(life)).alsoEnd(word),
  });
  try {
    const results = await verifier.check({
      attempt: "merge@1/prove#1",
      checks,
      commit: order.commit,
      cancel: context.interrupted,
      onLiveEvent: () => undefined,
    });
    const excerpt = (id: string): string =>
      blobs.findLast(({ check }) => check.id === id)?.output_excerpt.slice(-excerptCharactersMax) ?? "";
    const failures = results.filter(({ status, quarantined }) => status !== "passed" && quarantined === undefined);
    return {
      passed: results.length >= checks.length && failures.length === 0,
      failed: failures.map(({ check }) => (check.kind === "holdout" ? check.title : check.command)),
      cancelled: context.interrupted.aborted,
      evidence: results.map(({ check, status, why }) => {
        const isSecret = check.kind === "holdout";
        const head = `${status}: ${isSecret ? check.title : check.command}${why === undefined ? "" : ` (${why})`}`;
        return status === "passed" || isSecret ? head : [head, excerpt(check.id).trim()].filter((one) => one !== "").join("\n");
      }),
    };
  } finally {
    (guardian as Guardian | null)?.leave();
  }
}
