import { join } from "node:path";
import type { Check } from "../contracts/evidence.ts";
import type { RunView } from "../core/state.ts";
import { openVerifier } from "../verify/verifier.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import type { Home } from "./home.ts";
import { isolationFor } from "./isolation-for.ts";
import { openedRepository } from "./opened-repository.ts";
import type { Place } from "./place.ts";
import { recordedPolicy } from "./policy.ts";
import { product } from "./product.ts";
import { systemClock } from "./system-clock.ts";

/** Runs a recorded check once more, in a checkout of its commit that nobody has used. Null where the commit is gone. */
export async function openRecheck(
  place: Place,
  home: Home,
  view: RunView,
  folder: string,
): Promise<(check: Check, commit: string) => Promise<string | null>> {
  const { drafted, tip } = view;
  const policy = recordedPolicy(view);
  const isolation = await isolationFor(drafted.isolation, home, folder);
  const workspace = await openWorkspace({
    repository: await openedRepository(home.root),
    runDir: join(folder, "run"),
    runId: drafted.run_id,
    base: { ...drafted.base },
    scope: [...drafted.objective.scope],
    ownedPaths: [],
    expectedTip: tip.commit,
  });
  const verifier = openVerifier({
    workspace,
    putBlob: () => Promise.resolve("0".repeat(64)),
    isolation: isolation.level,
    runId: drafted.run_id,
    product,
    timeoutMs: policy.check_minutes_max * 60_000,
    clock: systemClock,
    wrap: ({ argv, cwd, env }) => isolation.wrap({ argv, cwd, env, writable: [cwd], network: policy.check_network ? "on" : "off" }),
  });
  return async (check, commit) => {
    try {
      const [result] = await verifier.check({
        attempt: "verify@1/again#1",
        checks: [check],
        commit,
        cancel: place.interrupted,
        onSignal: () => undefined,
      });
      return result?.status ?? null;
    } catch {
      return null;
    }
  };
}
