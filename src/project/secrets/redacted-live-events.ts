// redacted-live-events: an agent's live events, and its result, without secrets.

import type { LiveEvent } from "../../contracts/signal.ts";
import type { Redactor } from "../../kit/redact.ts";
import { patternCharsMax } from "../../kit/redact-patterns.ts";
import { redactValue } from "../../kit/redact-value.ts";
import type { Agents } from "../../ports/agent.ts";

/**
 * The preceding text, so that a secret that comes in pieces is recognised by its last one: as long as the longest, such as a private key.
 */
const rememberedCharsMax = patternCharsMax;
const attemptsMax = 64;

/**
 * Signals as they may be shown and written: each continues the one before of the same attempt and kind, so every one is tracked, and only
 * those that are shown are redacted.
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

/** Agents whose results have no secrets before they are cut short: half a secret would not be recognised. */
export function redactedAgents(agents: Agents, redactor: Redactor): Agents {
  return {
    turn: async (request) => {
      const result = await agents.turn(request);
      return redactValue(redactor.excerpt, result);
    },
    sweep: (run) => agents.sweep(run),
  };
}
