// redacted-live-events: removes secrets from an agent's live events and from its result.

import type { LiveEvent } from "../../contracts/live-event.ts";
import type { Redactor } from "../../kit/redact.ts";
import { patternCharsMax } from "../../kit/redact-patterns.ts";
import { redactValue } from "../../kit/redact-value.ts";
import type { Agents } from "../../ports/agent.ts";

/**
 * How much preceding text is kept, so that a secret that comes in pieces is recognised: as much as
 * the longest secret, a private key.
 */
const rememberedCharsMax = patternCharsMax;
const attemptsMax = 64;

/**
 * Returns a function to call with every live event: text continues that of the event before, of the
 * same attempt and kind. Its result makes the event as it may be shown and written; only those that
 * are shown are redacted.
 */
export function openLiveEvents(redactor: Redactor): (signal: LiveEvent) => () => LiveEvent {
  const precedingTexts = new Map<string, string>();
  return (signal) => {
    if (signal.signal !== "said" && signal.signal !== "thought") {
      return () => redactLiveEvent(redactor, signal);
    }

    const key = `${signal.signal} ${signal.attempt}`;
    const preceding = precedingTexts.get(key) ?? "";
    precedingTexts.delete(key);

    if (precedingTexts.size >= attemptsMax) {
      precedingTexts.delete(precedingTexts.keys().next().value ?? "");
    }

    precedingTexts.set(key, (preceding + signal.text).slice(-rememberedCharsMax));
    return () => ({ ...signal, text: redactor.next(preceding, signal.text) });
  };
}

const redactLiveEvent = (redactor: Redactor, signal: LiveEvent): LiveEvent => ({
  ...redactValue(redactor.excerpt, signal),
  attempt: signal.attempt,
});

/**
 * Agents whose results are redacted before anything cuts them short: half a secret would not be
 * recognised.
 */
export function redactAgents(agents: Agents, redactor: Redactor): Agents {
  return {
    turn: async (request) => {
      const result = await agents.turn(request);
      return redactValue(redactor.excerpt, result);
    },
    sweep: (run) => agents.sweep(run),
  };
}
