// unknown-limits: finds names under `limits` in a config that are neither a limit nor a number that
// some flow takes as an option.

import { limitRanges } from "../contracts/tunable-limits.ts";
import { suggest } from "../kit/suggest.ts";
import { loadFlow, listFlowNames } from "./load.ts";

export type UnknownLimit = { readonly name: string; readonly message: string };

/**
 * The names that nothing reads, each with a message. Flows are read only if a name isn't one of the
 * limits.
 */
export async function findUnknownLimits(
  root: string,
  limits: Readonly<Record<string, number>>,
): Promise<readonly UnknownLimit[]> {
  const otherNames = Object.keys(limits).filter((name) => !Object.hasOwn(limitRanges, name));
  if (otherNames.length === 0) return [];

  const flowNames = await listFlowNames(root);
  const flows = await Promise.all(flowNames.map((name) => loadFlow(root, name)));
  const options = flows.flatMap((loaded) =>
    loaded.kind === "loaded" ? Object.entries(loaded.flow.options ?? {}) : [],
  );
  const numberOptions = options
    .filter(([, { type }]) => type === "count" || type === "number")
    .map(([name]) => name);
  const knownNames = new Set([...Object.keys(limitRanges), ...numberOptions]);

  return otherNames
    .filter((name) => !knownNames.has(name))
    .map((name) => {
      const similarName = suggest(name, knownNames);
      const hint = similarName === null ? "" : ` Did you mean ${similarName}?`;
      return {
        name,
        message: `found the unknown key "${name}", expected a limit or a number that a flow takes as an option.${hint}`,
      };
    });
}
