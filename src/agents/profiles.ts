// profiles: the agents this runner knows, as data. What differs between agents stands here and nowhere in code.

import type { Cast } from "../contracts/event.ts";
import { unreachable } from "../kit/never.ts";
import type { UsageMeaning } from "./acp/usage.ts";

export type AgentProfile = {
  readonly id: string;
  /** `embedded`: shipped with the runner, plays a script. `named`: the cast says which words start it. `path`: a program looked up on the PATH. */
  readonly found: "embedded" | "named" | "path";
  /** The words that start it, for `path`; the first is the program. */
  readonly argv: readonly string[];
  /** Names passed from the runner's environment, besides the ones every agent gets. */
  readonly passEnv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What its reported usage counts. */
  readonly usage: UsageMeaning;
  /** How long it takes to go by itself once its input has ended; 0 if it does not. */
  readonly stop: { readonly eofMs: number };
  /** What it announces but cannot do. */
  readonly lacks: readonly ("resume" | "load")[];
  /** The oldest Node it runs on, where it is a Node program; else null. */
  readonly minNode: string | null;
};

const plain = { argv: [], passEnv: [], env: {}, stop: { eofMs: 2500 }, lacks: [], minNode: null } as const;

export const agentProfiles = {
  scripted: { ...plain, id: "scripted", found: "embedded", usage: "turn", minNode: "20.19.0" },
  custom: { ...plain, id: "custom", found: "named", usage: "turn" },
} as const satisfies Readonly<Record<string, AgentProfile>>;

/** The embedded agent's parts on this machine. */
export type Embedded = {
  readonly node: string;
  /** The bundled program of the scripted agent. */
  readonly entry: string;
  /** Where the recorded copy of a script lies, by its hash. */
  readonly scriptOf: (hash: string) => string;
};

/** The words that start the agent of this cast, or why there are none. */
export function argvOf(
  profile: AgentProfile,
  cast: Cast,
  embedded: Embedded,
): { readonly argv: readonly string[] } | { readonly problem: string } {
  if (cast.argv !== undefined && profile.found !== "embedded") return { argv: cast.argv };
  switch (profile.found) {
    case "embedded":
      if (cast.script === undefined) return { problem: "the scripted agent was given no script: use --agent scripted:FILE" };
      return { argv: [embedded.node, embedded.entry, embedded.scriptOf(cast.script)] };
    case "named":
      return { problem: `no command is given for the agent ${cast.agent}: set agents.${cast.agent}.argv in the config` };
    case "path":
      return { argv: profile.argv };
    default:
      return unreachable(profile.found);
  }
}
