// redacted-live-events: an agent's live events, and what it returns at the end, without secrets.

import type { LiveEvent } from "../../contracts/signal.ts";
import type { Redactor } from "../../kit/redact.ts";
import { patternCharsMax } from "../../kit/redact-patterns.ts";
import { redactValue } from "../../kit/redact-value.ts";
import type { Agents } from "../../ports/agent.ts";

/** What was said just before, so that a secret told in pieces is known by its last one: the longest there is, a private key say. */
const rememberedCharsMax = patternCharsMax;
const attemptsMax = 64;

/**
 * Signals as they may be shown and written: each goes on from the one before of the same attempt and kind, so every one is heard,
 * and the few that are shown are redacted when they are.
 */
export function openLiveEvents(redactor: Redactor): (signal: LiveEvent) => () => LiveEvent {
  const before = new Map<string, string>();
  return (signal) => {
    if (signal.signal !== "said" && signal.signal !== "thought") return () => redactLiveEvent(redactor, signal);
    const key = `${signal.signal} ${signal.attempt}`;
    const earlier = before.get(key) ?? "";
    before.delete(key);
    if (before.size >= attemptsMax) before.delete(before.keys().next().value ?? "");
    before.set(key, (earlier + signal.text).slice(-rememberedCharsMax));
    return () => ({ ...signal, text: redactor.next(earlier, signal.text) });
  };
}

const redactLiveEvent = (redactor: Redactor, signal: LiveEvent): LiveEvent => ({
  ...redactValue(redactor.excerpt, signal),
  attempt: signal.attempt,
});

/** Agents whose results hold no secret before anybody cuts them short: half a secret would not be known any more. */
export function redactedAgents(agents: Agents, redactor: Redactor): Agents {
  return {
    turn: async (request) => {
      const result = await agents.turn(request);
      return redactValue(redactor.excerpt, result);
    },
    sweep: (run) => agents.sweep(run),
  };
}
