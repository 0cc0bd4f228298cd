// abort-stream: ends a stream in the middle so that the agent notices: a last event in the provider's format, then a closed connection.

import type { ServerResponse } from "node:http";
import type { ModelApi } from "../contracts/model-api.ts";
import { abortGraceMs } from "./limits.ts";
import { lastEvent, type Refusal } from "./refusal.ts";

export type Rest = {
  /** The complete events of the last chunk. */
  readonly whole: Buffer;
  /** True if the response so far ends with a whole event. */
  readonly isBetweenEvents: boolean;
};

export function endWithMessage(response: ServerResponse, api: ModelApi, refusal: Refusal, rest: Rest): void {
  if (rest.whole.length > 0) response.write(rest.whole);
  // Half an event cannot be withdrawn: it is ended, so that the next one is understood.
  const text = `${rest.isBetweenEvents ? "" : "\n\n"}${lastEvent(api, refusal)}`;
  const timer = setTimeout(() => response.destroy(), abortGraceMs);
  timer.unref();
  response.on("close", () => clearTimeout(timer));
  // Without HTTP's end marker: a stream that only stopped might pass for a complete one.
  response.write(text, () => response.socket?.destroySoon());
}
