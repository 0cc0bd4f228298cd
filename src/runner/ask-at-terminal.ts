// ask-at-terminal: asks a question at this terminal while other terminals can still reach the run.
//
// Invariants:
//   L1. While the question is open here, requests from elsewhere are journaled and acknowledged at once, and the question is withdrawn.
//   L2. The first answer counts: one from elsewhere is journaled before the one typed here is read.

import type { Draft } from "../contracts/event.ts";
import { recordRequests } from "../engine/record-requests.ts";
import type { RunRequest } from "../ports/request-queue.ts";
import { openRequestQueue } from "../project/requests/request-queue.ts";
import type { OpenRun } from "./open-run.ts";
import type { CommandContext } from "../project/command-context.ts";

/** The result of a question: an answer given here, none (no terminal, or the person left), or requests from elsewhere, now journaled. */
export type TerminalReply =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "none" }
  | { readonly kind: "requests"; readonly requests: readonly RunRequest[] };

/**
 * Asks the person at this terminal, and handles requests of others meanwhile. `beforeRecording` is called before a request is journaled
 * (the state changes in place), and the function it returns before the request is acknowledged.
 */
export async function askAtTerminal(
  context: CommandContext,
  openRun: OpenRun,
  {
    question,
    choices,
    beforeRecording: around,
  }: {
    readonly question: string;
    readonly choices: readonly string[];
    readonly beforeRecording?: (request: RunRequest) => (() => Promise<void>) | null;
  },
): Promise<TerminalReply> {
  const requestQueue = await openRequestQueue(openRun.folder);
  const withdrawal = new AbortController();
  const hasRequests = async (): Promise<boolean> => (await requestQueue.pending()).length > 0;
  const withdrawOnRequest = (): void => void hasRequests().then((isThere) => isThere && withdrawal.abort());
  const unwatch = requestQueue.watch(withdrawOnRequest);
  try {
    const text = (await hasRequests()) ? null : await context.ask(question, choices, withdrawal.signal);
    const requests = await requestQueue.pending();
    if (requests.length === 0) return text === null ? { kind: "none" } : { kind: "answer", text }; // L2
    const record = async (event: Draft): Promise<void> => {
      const request = requests.find((candidate) => "request" in event && candidate.request === event.request);
      const afterwards = request === undefined ? null : (around?.(request) ?? null);
      await openRun.append(event);
      await afterwards?.();
      if (request === undefined) return;
      requestQueue.acknowledge(request.request); // L1
    };
    await recordRequests(requestQueue, openRun.view(), record);
    return { kind: "requests", requests };
  } finally {
    unwatch();
    await requestQueue.close();
  }
}
