// compose-argv: the command line that starts the agent of a role.

import type { Cast } from "../../contracts/event.ts";
import { unreachable } from "../../kit/unreachable.ts";
import type { AgentProfile } from "./profile.ts";

/** The embedded agent's parts on this machine. */
export type EmbeddedAgent = {
  readonly nodePath: string;
  /** The bundled program of the scripted agent. */
  readonly programPath: string;
  /** The recorded copy of a script, by its hash. */
  readonly scriptPathOf: (hash: string) => string;
};

/** The command line of this cast's agent, or why there is none. */
export function composeProfileArgv(
  profile: AgentProfile,
  cast: Cast,
  embedded: EmbeddedAgent,
): { readonly argv: readonly string[] } | { readonly problem: string } {
  if (cast.argv !== undefined && profile.found !== "embedded") return { argv: cast.argv };
  switch (profile.found) {
    case "embedded":
      if (cast.script === undefined) {
        return { problem: "the scripted agent was given no script: use --agent scripted:FILE" };
      }
      return {
        argv: [embedded.nodePath, embedded.programPath, embedded.scriptPathOf(cast.script)],
      };
    case "named":
      return {
        problem: `no command is given for the agent ${cast.agent}: set agents.${cast.agent}.argv in the config`,
      };
    case "path": {
      // Today the path is found when a run is drafted, and is in `cast.argv`; this is for runs of
      // older versions.
      const [first] = profile.programs;
      return first === undefined
        ? { problem: `no program is known for the agent ${cast.agent}` }
        : { argv: [first.name, ...first.words] };
    }
    default:
      return unreachable(profile.found);
  }
}
