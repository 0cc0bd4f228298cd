// grants: decides which events give a run authority or end it. Only a person, or the runner itself,
// may cause them: an agent never grants anything, to itself or to another. (Refused in
// runner/require-may-grant.ts.)

import type { EventName } from "../contracts/event.ts";

const grantEvents: ReadonlySet<EventName> = new Set<EventName>([
  "preview_acknowledged",
  "run_started",
  "run_resumed",
  "run_adopted",
  "run_forked",
  "policy_changed",
  "block_answered",
  "limit_raised",
  "oracles_approved",
  "tests_held",
  "pull_request_intended",
  "pull_request_taken_up",
]);

type RequestedEvent = {
  readonly event: EventName;
  readonly actor?: string;
  readonly control?: unknown;
};

/** Pausing is the safe direction and open to everyone; stopping ends what cannot be resumed. */
export const isGrant = ({ event, control }: RequestedEvent): boolean =>
  grantEvents.has(event) || (event === "control_requested" && control === "stop");

export const isAgent = (actor: string | undefined): boolean => actor?.startsWith("agent:") === true;

/** Whether an event may not be written, from whichever surface it came. */
export const isRefusedGrant = (request: RequestedEvent): boolean =>
  isGrant(request) && isAgent(request.actor);
