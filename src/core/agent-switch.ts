// agent-switch: decides which agent plays a role. A role may list agents in order: at a provider's
// limit the next one takes over, and the first returns at the reset.
//
// Invariants:
//   Y1. Only a rate limit or an outage hands over to another agent; a refused key or request does
//       not.
//   Y2. The first in the order that is not at its limit plays; if all are, the current one waits.

import type { Cast, EventOf } from "../contracts/event.ts";
import { formatIsoTime, parseIsoTime } from "../kit/iso-time.ts";
import type { Run, RunView } from "./state.ts";

type CastView = RunView["drafted"]["cast"][string];
type PlayerView = Omit<CastView, "instead">;

/** How long a provider that names no reset time is left alone. */
const unknownResetMs = 30 * 60_000;

export type AgentSwitch = Omit<EventOf<"agent_switched">, "event" | "actor" | "reason_code">;

/** The agent that takes over from the current one; null if nothing changes. Y2 */
export function findAgentSwitch(run: RunView, role: string, now: string): AgentSwitch | null {
  const key = playerKey(run, role);
  const cast = run.drafted.cast[key];
  if (cast?.instead === undefined || cast.instead.length === 0) return null;
  const players = [cast, ...cast.instead]
    .map(withoutAlternatives)
    .toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  const next = players.find((player) => (run.limited?.[playerName(player)] ?? "") <= now);
  if (next === undefined || playerName(next) === playerName(cast)) return null;
  const until = run.limited?.[playerName(cast)];
  const instead = players.filter((player) => player !== next);

  return {
    role: key,
    from: cast.agent,
    to: next.agent,
    player: { ...next, instead },
    ...(until === undefined || until <= now ? {} : { until }),
  };
}

/** Whether a run that its provider holds up can continue at once, with another agent. */
export const canSwitchAgent = (run: RunView, now: string): boolean =>
  run.parked?.role !== undefined && findAgentSwitch(run, run.parked.role, now) !== null;

/** Records the limit of the agent that plays the role. Y1 */
export function recordProviderLimit(
  run: Run,
  role: string | null,
  { fault = "limit", until }: EventOf<"step_interrupted">,
  ts: string,
): void {
  const cast = run.drafted.cast[playerKey(run, role ?? "")];
  if (cast?.instead === undefined || (fault !== "limit" && fault !== "service")) return;
  (run.limited ??= {})[playerName(cast)] =
    until ?? formatIsoTime((parseIsoTime(ts) ?? 0) + unknownResetMs);
}

/** The cast's entry for a role: its own, or `*` for all that have none. */
const playerKey = ({ drafted }: RunView, role: string): string =>
  drafted.cast[role] === undefined ? "*" : role;

/** Two scripts are two agents. */
const playerName = ({ agent, script }: PlayerView): string =>
  script === undefined ? agent : `${agent}:${script}`;

function withoutAlternatives({
  agent,
  script,
  argv,
  override,
  rank,
}: PlayerView): NonNullable<Cast["instead"]>[number] {
  return {
    agent,
    ...(script === undefined ? {} : { script }),
    ...(argv === undefined ? {} : { argv: [...argv] }),
    ...(override === undefined
      ? {}
      : { override: structuredClone(override) as NonNullable<Cast["override"]> }),
    ...(rank === undefined ? {} : { rank }),
  };
}
