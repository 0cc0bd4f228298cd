// bwrap: isolation by bubblewrap. A command gets its own box (box.ts) and writes its folder directly. What the box promises, and how its
// variant is chosen, serves overlay.ts too.

import { boxMeansHere, type BoxMeans } from "./box-means.ts";
import { testBox } from "./box-test.ts";
import { buildBox, openFilter } from "./box.ts";
import type { Command, Isolation, IsolationPlace, Wrapped } from "./confinement.ts";
import type { SelfTestCache } from "./self-test-cache.ts";

/** Promises of every sandbox, however its folder is mounted. */
export const boxPromises = {
  enforced: [
    "only in-scope changes of the layer are applied",
    "writes outside the layer fail",
    "the user's checkout and HOME, other repositories, the journal and other attempts are absent",
    "credentials and other services' sockets are absent",
    "no network, or the egress alone, where the command is to have no more",
    "processes end with the runner",
    "no privileges, no user namespaces, fewer system calls",
  ],
  not_enforced: ["reads of installed programs and their settings", "network, for commands that may use it"],
} as const;

export function wrapInBox(place: IsolationPlace, means: BoxMeans, command: Command): Wrapped {
  const { argv, env, filter } = buildBox({ place, means, command });
  return { argv: ["/bin/sh", "-c", openFilter, "autopilot-box", filter, ...argv], env, cwd: command.cwd };
}

type SelfTestInput = {
  readonly level: "overlay" | "bwrap";
  readonly programs: readonly string[];
  readonly cache: SelfTestCache | undefined;
  readonly test: (means: BoxMeans) => Promise<readonly string[]>;
};

/** The variant cached as working, the first whose test passes, or the last one's findings. */
export async function chooseBoxMeans(
  candidates: readonly BoxMeans[],
  { level, programs, cache, test }: SelfTestInput,
): Promise<{ readonly means: BoxMeans } | { readonly failures: readonly string[] }> {
  const cachedKind = cache?.read(level, programs) ?? null;
  const cachedMeans = cachedKind === null ? undefined : candidates.find(({ users }) => users.kind === cachedKind);
  if (cachedMeans !== undefined) return { means: cachedMeans };
  let failures: readonly string[] = ["bubblewrap (bwrap) is not installed"];
  for (const means of candidates) {
    failures = await test(means);
    if (failures.length > 0) continue;
    cache?.note(level, programs, means.users.kind);
    return { means };
  }
  return { failures };
}

/** Used when there is no bubblewrap: a bare `bwrap`, which fails without starting the command, so that it never runs outside a box. */
export const failToStart = ({ cwd }: Command): Wrapped => ({ argv: ["bwrap"], env: {}, cwd });

export function bwrapIsolation(place: IsolationPlace): Isolation {
  const candidates = boxMeansHere("tried", place.cache);
  let [chosen] = candidates;
  return {
    level: "bwrap",
    mechanism: "bubblewrap",
    ...boxPromises,
    wrap: (command) => (chosen === undefined ? failToStart(command) : wrapInBox(place, chosen, command)),
    hasOwnNetwork: true,
    collect: () => Promise.resolve(),
    selfTest: async () => {
      const choice = await chooseBoxMeans(candidates, {
        level: "bwrap",
        programs: ["bwrap", "/bin/sh"],
        cache: place.cache,
        test: (means) => testBox({ place, wrap: (command) => wrapInBox(place, means, command) }),
      });
      if ("failures" in choice) return choice.failures;
      chosen = choice.means;
      return [];
    },
  };
}
