// run-terms: checks whether a run could start with the flow, isolation, scope and agent that a task or project names. Checked when they are
// entered, so that a mistake isn't found only when a worker starts.

import { extendableProfiles } from "../../agents/profiles/resolve.ts";
import { isolationLevels } from "../../contracts/objective.ts";
import { namesOfFlows } from "../../flows/load.ts";
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

/** `root`: the repository that runs work in: it may bring flows of its own, and its settings name agents. */
export type Known = { readonly flows: readonly string[]; readonly agents: readonly string[] };

export async function knownIn(context: CommandContext, root: string): Promise<Known> {
  const read = readSettings(context, root);
  const own = read.kind === "settings" ? Object.keys(read.config.agents ?? {}) : [];
  const shipped = extendableProfiles.filter((name) => name !== "custom");
  return { flows: await namesOfFlows(root), agents: [...new Set([...shipped, ...own])] };
}

export function termFaults({ flows, agents }: Known, { flow, isolation, touches = [], agent }: RunTerms): readonly string[] {
  const faults: string[] = [];
  const among = (subject: string, value: string, known: readonly string[]): void =>
    void faults.push(`${subject} ${oneLine(value, 60)} is unknown, expected one of ${known.join(", ")}.${didYouMean(value, known)}`);
  if (flow !== undefined && !flows.includes(flow)) among("the flow", flow, flows);
  if (isolation !== undefined && !isolationLevels.some((level) => level === isolation)) among("the isolation", isolation, isolationLevels);
  for (const glob of touches) {
    const read = parseScope([glob]);
    if ("fault" in read) faults.push(`touches: ${read.fault.replace(/\.$/, "")}`);
  }
  const names = agent?.split(",").map((name) => name.trim()) ?? [];
  for (const name of names) {
    if (name === "scripted") faults.push("the agent scripted plays a script, expected scripted:FILE");
    else if (!name.startsWith("scripted:") && !agents.includes(name)) among("the agent", name, [...agents, "scripted:FILE"]);
  }
  if (new Set(names).size < names.length)
    faults.push(`the agents ${oneLine(agent ?? "", 60)} name one twice, expected each once, in order`);
  return faults;
}
