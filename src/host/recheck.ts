import { join } from "node:path";
import type { Check } from "../contracts/evidence.ts";
import type { RunView } from "../core/state.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { openChecks } from "./checks-box.ts";
import type { Home } from "./home.ts";
import { isolationFor } from "./isolation-for.ts";
import { openedRepository } from "./opened-repository.ts";
import type { Place } from "./place.ts";
import { recordedPolicy } from "./policy.ts";

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
    ...(policy.restores === undefined ? {} : { checkDependencies: [] }),
  });
  const verifier = openChecks({
    workspace,
    isolation,
    policy,
    runId: drafted.run_id,
    folder,
    putBlob: () => Promise.resolve("0".repeat(64)),
    mark: () => ({}),
  });
  return async (check, commit) => {
    try {
      const results = await verifier.check({
        attempt: "verify@1/again#1",
        checks: [check],
        commit,
        cancel: place.interrupted,
        onSignal: () => undefined,
      });
      return results.at(-1)?.status ?? null; // what restores dependencies comes before it
    } catch {
      return null;
    }
  };
}
