// bwrap: isolation by bubblewrap. A command gets its own sandbox (bwrap-sandbox.ts) and writes its
// folder directly. overlay.ts uses the sandbox's promises and the choice of its variant too.

import { findBwrapVariants, type BwrapVariant } from "./bwrap-variants.ts";
import { testSandbox } from "./sandbox-self-test.ts";
import { buildSandbox, openFilter } from "./bwrap-sandbox.ts";
import type { Command, Isolation, IsolationPlace, WrappedCommand } from "./confinement.ts";
import type { SelfTestCache } from "./self-test-cache.ts";

/** Promises of every sandbox, however its folder is mounted. */
export const sandboxPromises = {
  enforced: [
    "only in-scope changes of the layer are applied",
    "writes outside the layer fail",
    "the user's checkout and HOME, other repositories, the journal and other attempts are absent",
    "credentials and other services' sockets are absent",
    "no network, or the egress alone, where the command is to have no more",
    "processes end with the runner",
    "no privileges, no user namespaces, fewer system calls",
  ],
  not_enforced: [
    "reads of installed programs and their settings",
    "network, for commands that may use it",
  ],
} as const;

export function wrapInSandbox(
  place: IsolationPlace,
  variant: BwrapVariant,
  command: Command,
): WrappedCommand {
  const { argv, env, filter } = buildSandbox({ place, variant, command });
  return {
    argv: ["/bin/sh", "-c", openFilter, "autopilot-box", filter, ...argv],
    env,
    cwd: command.cwd,
  };
}

type SelfTestInput = {
  readonly level: "overlay" | "bwrap";
  readonly programs: readonly string[];
  readonly cache: SelfTestCache | undefined;
  readonly test: (variant: BwrapVariant) => Promise<readonly string[]>;
};

/**
 * The variant that is cached as working, else the first whose test passes; if none does, the
 * failures of the last one.
 */
export async function chooseBwrapVariant(
  candidates: readonly BwrapVariant[],
  { level, programs, cache, test }: SelfTestInput,
): Promise<{ readonly variant: BwrapVariant } | { readonly failures: readonly string[] }> {
  const cachedKind = cache?.read(level, programs) ?? null;
  const cachedVariant =
    cachedKind === null ? undefined : candidates.find(({ users }) => users.kind === cachedKind);
  if (cachedVariant !== undefined) return { variant: cachedVariant };
  let failures: readonly string[] = ["bubblewrap (bwrap) is not installed"];

  for (const variant of candidates) {
    failures = await test(variant);
    if (failures.length > 0) continue;
    cache?.record(level, programs, variant.users.kind);

    return { variant };
  }

  return { failures };
}

/**
 * Used when there is no bubblewrap: a bare `bwrap`, which fails without starting the command, so
 * that it never runs outside a sandbox.
 */
export const failToStart = ({ cwd }: Command): WrappedCommand => ({
  argv: ["bwrap"],
  env: {},
  cwd,
});

export function createBwrapIsolation(place: IsolationPlace): Isolation {
  const candidates = findBwrapVariants("tried", place.cache);
  let [chosen] = candidates;
  return {
    level: "bwrap",
    mechanism: "bubblewrap",
    ...sandboxPromises,
    wrap: (command) =>
      chosen === undefined ? failToStart(command) : wrapInSandbox(place, chosen, command),
    hasOwnNetwork: true,
    collect: () => Promise.resolve(),
    selfTest: async () => {
      const choice = await chooseBwrapVariant(candidates, {
        level: "bwrap",
        programs: ["bwrap", "/bin/sh"],
        cache: place.cache,
        test: (variant) =>
          testSandbox({ place, wrap: (command) => wrapInSandbox(place, variant, command) }),
      });
      if ("failures" in choice) return choice.failures;
      chosen = choice.variant;

      return [];
    },
  };
}
