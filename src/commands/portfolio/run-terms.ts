// run-terms: checks whether a run could start with the flow, isolation, scope and agent that a task
// or project names. This is done when they are entered, so that a mistake isn't found only when a
// worker starts.

import { extendableProfiles } from "../../agents/profiles/resolve-profile.ts";
import { isolationLevels } from "../../contracts/isolation-levels.ts";
import { listFlowNames } from "../../flows/load.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readSettings } from "../../project/config/settings.ts";
import { parseScope } from "../../runner/draft/objective-scope.ts";
import { oneLine } from "../../views/wording.ts";

export type RunTerms = {
  readonly flow?: string | undefined;
  readonly isolation?: string | undefined;
  readonly touches?: readonly string[] | undefined;
  readonly agent?: string | undefined;
};

/** The names that runs in a repository may use. */
export type KnownTerms = { readonly flows: readonly string[]; readonly agents: readonly string[] };

/**
 * `root`: the repository that runs work in. It may have flows of its own, and its settings name
 * agents.
 */
export async function readKnownTerms(context: CommandContext, root: string): Promise<KnownTerms> {
  const settings = readSettings(context, root);
  const configured = settings.kind === "settings" ? Object.keys(settings.config.agents ?? {}) : [];
  const shipped = extendableProfiles.filter((name) => name !== "custom");

  return { flows: await listFlowNames(root), agents: [...new Set([...shipped, ...configured])] };
}

/** Everything that is wrong with the terms, one sentence each. */
export function findTermFaults(
  { flows, agents }: KnownTerms,
  { flow, isolation, touches = [], agent }: RunTerms,
): readonly string[] {
  const faults: string[] = [];
  const addUnknown = (subject: string, value: string, known: readonly string[]): void =>
    void faults.push(
      `${subject} ${oneLine(value, 60)} is unknown, expected one of ${known.join(", ")}.${didYouMean(value, known)}`,
    );
  if (flow !== undefined && !flows.includes(flow)) addUnknown("the flow", flow, flows);
  if (isolation !== undefined && !isolationLevels.some((level) => level === isolation)) {
    addUnknown("the isolation", isolation, isolationLevels);
  }

  for (const glob of touches) {
    const scope = parseScope([glob]);
    if ("fault" in scope) faults.push(`touches: ${scope.fault.replace(/\.$/, "")}`);
  }

  const names = agent?.split(",").map((name) => name.trim()) ?? [];
  for (const name of names) {
    if (name === "scripted") {
      faults.push("the agent scripted plays a script, expected scripted:FILE");
    } else if (!name.startsWith("scripted:") && !agents.includes(name)) {
      addUnknown("the agent", name, [...agents, "scripted:FILE"]);
    }
  }

  if (new Set(names).size < names.length) {
    faults.push(
      `the agents ${oneLine(agent ?? "", 60)} name one twice, expected each once, in order`,
    );
  }

  return faults;
}
