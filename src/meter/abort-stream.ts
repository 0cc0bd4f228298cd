// abort-stream: ends a stream in the middle so that the agent notices: a last event in the
// provider's format, then a closed connection.

import type { ServerResponse } from "node:http";
import type { ModelApi } from "../contracts/model-api.ts";
import { abortGraceMs } from "./limits.ts";
import { composeLastEvent, type Refusal } from "./refusal.ts";

/** What of the answer has arrived and is not sent yet. */
export type Unsent = {
  /** The complete events of the last chunk. */
  readonly wholeEvents: Buffer;
  /** True if the response so far ends with a whole event. */
  readonly isBetweenEvents: boolean;
};

export function endWithRefusal(
  response: ServerResponse,
  api: ModelApi,
  refusal: Refusal,
  unsent: Unsent,
): void {
  if (unsent.wholeEvents.length > 0) response.write(unsent.wholeEvents);
  // Half an event cannot be withdrawn: it is ended, so that the next one is understood.
  const text = `${unsent.isBetweenEvents ? "" : "\n\n"}${composeLastEvent(api, refusal)}`;
  const timer = setTimeout(() => response.destroy(), abortGraceMs);
  timer.unref();
  response.on("close", () => clearTimeout(timer));
  // Without HTTP's end marker: a stream that only stopped might pass for a complete one.
  response.write(text, () => response.socket?.destroySoon());
}
