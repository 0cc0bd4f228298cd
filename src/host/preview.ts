import picomatch from "picomatch";
import { previewOf as viewOf, previewPage, type PreviewView } from "../faces/preview.ts";
import type { RunView } from "../core/state.ts";
import { git } from "../workspace/git.ts";
import { estimateOf } from "./estimate-of.ts";
import { faceOf } from "./faces/table.ts";
import type { Home } from "./home.ts";
import type { Place } from "./place.ts";
import { settingsOf } from "./settings.ts";
import { tryIsolation } from "./try-isolation.ts";

export type Preview = {
  readonly data: PreviewView;
  readonly page: readonly string[];
  readonly warnings: readonly string[];
  readonly dryRun: "required" | "auto";
};

/** What a draft would do, looked up anew each time it is shown. */
export async function previewOf(place: Place, home: Home, run: RunView): Promise<Preview> {
  const { drafted } = run;
  const settings = settingsOf(place, home);
  const isolation = await tryIsolation(drafted.isolation, home);
  const shown = await (await faceOf(drafted.flow.face))?.preview?.({ place, home, view: run });
  const data = viewOf({
    objective: structuredClone(drafted.objective) as never,
    inferredDefaults: drafted.inferred_defaults ?? [],
    flow: structuredClone(drafted.flow) as never,
    options: drafted.options,
    cast: structuredClone(drafted.cast) as never,
    scopeFiles: await countScope(home.root, drafted.base.commit, drafted.objective.scope),
    checks: structuredClone(drafted.checks),
    budget: structuredClone(drafted.budget),
    limits: drafted.limits,
    isolation,
    estimate: shown?.estimate ?? estimateOf(drafted.limits.run),
    ...(shown === undefined ? {} : { wanted: shown.wanted }),
    base: drafted.base,
  });
  const warnings =
    isolation.not_enforced.length > 0 ? [`Isolation ${isolation.level} does not enforce: ${isolation.not_enforced.join("; ")}.`] : [];
  return { data, page: previewPage(data, drafted.ack), warnings, dryRun: settings.dryRun };
}

async function countScope(root: string, commit: string, scope: readonly string[]): Promise<number | null> {
  const { out, code } = await git({ cwd: root, args: ["ls-tree", "-r", "--name-only", "-z", commit], codes: [0, 128] });
  if (code !== 0) return null;
  const takes = scope.filter((glob) => !glob.startsWith("!"));
  const leaves = scope.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  const isIn = picomatch(takes.length === 0 ? ["**"] : takes, { dot: true, ignore: leaves });
  return out
    .toString("utf8")
    .split("\0")
    .filter((name) => name !== "" && isIn(name)).length;
}
