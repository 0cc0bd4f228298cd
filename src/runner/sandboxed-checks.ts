// sandboxed-checks: opens a run's verifier in the same isolation as its agents, with the network
// its policy allows and a cache of packages.
//
// Invariants:
//   K1. A check has its own private HOME: what an agent leaves in the run's HOME must not reach a
//       check.
//   K2. Only restoring dependencies fills the cache. Checks read it, and nothing that an agent
//       starts ever sees it.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Policy } from "../contracts/policy.ts";
import type { Redactor } from "../kit/redact.ts";
import type { Verifier } from "../ports/verifier.ts";
import type { Workspace } from "../ports/workspace.ts";
import { cacheEnvironment } from "../verify/detect/detect-restore.ts";
import { openVerifier, type VerifierParts } from "../verify/verifier.ts";
import type { Isolation, WrappedCommand } from "../workspace/isolation/confinement.ts";
import type { OpenedLimits } from "../workspace/isolation/limits.ts";
import { computeSandboxLimits } from "./sandbox-limits.ts";
import { product } from "../project/runs/product.ts";
import { systemClock } from "../project/runs/system-clock.ts";
import { createTemporaryFolder } from "../workspace/temporary-folder.ts";

export type SandboxedVerifierParts = {
  readonly workspace: Workspace;
  readonly isolation: Isolation;
  /** Resource limits of checks; without them only time and output are bounded. */
  readonly limits?: OpenedLimits;
  readonly policy: Policy;
  /**
   * The repository the work is for: sandboxes show a checkout at its path, so that a check can't
   * tell that it is run by autopilot.
   */
  readonly root: string;
  /** A folder of the run that no agent sees. */
  readonly folder: string;
  readonly putBlob: VerifierParts["putBlob"];
  /**
   * Reads evidence back, so that what was judged once is not run again; without it everything is
   * run.
   */
  readonly readBlob?: VerifierParts["readBlob"];
  /** Redacts what a check prints; without it, only what looks like a secret. */
  readonly redactor?: Redactor;
  /**
   * Ends a command's processes if this process dies; a guardian is started with the first check,
   * not before.
   */
  readonly guard: NonNullable<VerifierParts["guard"]>;
};

export function openSandboxedVerifier(parts: SandboxedVerifierParts): Verifier {
  const { workspace, isolation, policy, folder, putBlob, readBlob, redactor, guard } = parts;
  const restores = policy.restores ?? [];
  const isRestoring = restores.length > 0 || policy.restore_from !== undefined;
  const cache = join(folder, "cache");
  const cacheEnv = isRestoring ? cacheEnvironment(cache) : {};
  const readableCache = isRestoring ? [cache] : [];
  if (isRestoring) mkdirSync(cache, { recursive: true, mode: 0o700 });

  const limit = createLimit(parts);
  const wrapCheck = (launch: CheckLaunch): WrappedCommand => {
    const command = confineCheck(parts, launch);
    return limit(isolation.wrap({ ...command, readable: [...command.readable, ...readableCache] }));
  };

  // K2
  const wrapRestore = (launch: CheckLaunch): WrappedCommand => {
    const command = confineCheck(parts, launch);
    return limit(
      isolation.wrap({ ...command, writable: [...command.writable, cache], network: "on" }),
    );
  };

  return openVerifier({
    workspace,
    isLater: (commit, path, than) => workspace.isLater(commit, path, than),
    putBlob,
    ...(redactor === undefined ? {} : { redactor }),
    ...(readBlob === undefined ? {} : { readBlob }),
    ...(policy.repeat === undefined ? {} : { repeatMax: policy.repeat }),
    ...(policy.canary === undefined ? {} : { canary: policy.canary }),
    ...(policy.canary_minutes_max === undefined
      ? {}
      : { canaryMinutes: policy.canary_minutes_max }),
    ...(policy.quarantine === undefined ? {} : { quarantine: policy.quarantine }),
    ...(policy.protect === undefined ? {} : { protect: policy.protect }),
    ...composeShownPath(parts),
    isolation: isolation.level,
    product,
    timeoutMs: policy.check_minutes_max * 60_000,
    scratch: () => createTemporaryFolder("work"),
    clock: systemClock,
    env: { ...policy.check_env, ...cacheEnv },
    guard,
    wrap: wrapCheck,
    restores,
    ...(policy.restore_from === undefined ? {} : { restoreFrom: policy.restore_from }),
    wrapRestore,
  });
}

type CheckLaunch = Parameters<NonNullable<VerifierParts["wrap"]>>[0];

/**
 * Checkouts are shown at the repository's path. If the user names the dependency folders, one may
 * contain something that was built at that path, and a build there would take it for up to date;
 * then the checkout keeps its real path.
 */
const composeShownPath = ({
  policy,
  root,
}: SandboxedVerifierParts): { readonly shownAs?: string } =>
  policy.dependencies === undefined ? { shownAs: policy.dependencies_from ?? root } : {};

/** A check's command with the rights that every check has. */
function confineCheck(
  parts: SandboxedVerifierParts,
  { argv, cwd, env, readable = [], writable = [] }: CheckLaunch,
) {
  const home = env["HOME"];
  return {
    argv,
    cwd,
    ...composeShownPath(parts),
    env,
    home: "user" as const, // K1: the sandbox leaves HOME as `env` has it, which is the check's own
    writable: [cwd, ...(home === undefined ? [] : [home]), ...writable],
    readable,
    network: parts.policy.check_network ? ("on" as const) : ("off" as const),
  };
}

/** Returns a function that puts a command under the limits of checks, if there are any. */
function createLimit({
  limits,
  policy,
}: SandboxedVerifierParts): (command: WrappedCommand) => WrappedCommand {
  if (limits === undefined) return (command) => command;
  const sandboxLimits = computeSandboxLimits(policy);
  // Checks run one at a time, so they share one limit.
  return (command) => ({
    ...command,
    argv: limits.wrap(command.argv, sandboxLimits, "checks"),
  });
}
