// ask-at-terminal: asks a question at this terminal while other terminals can still reach the run.
//
// Invariants:
//   L1. While the question is open here, requests from elsewhere, of another machine too, are
//       journaled and acknowledged at once, and the question is withdrawn.
//   L2. The first answer counts: one from elsewhere is journaled before the one typed here is read.

import type { Draft } from "../contracts/event.ts";
import { recordRequests } from "../engine/record-requests.ts";
import type { RunRequest } from "../ports/request-queue.ts";
import { openRunRequests } from "./open-journal.ts";
import type { OpenRun } from "./open-run.ts";
import type { CommandContext } from "../project/command-context.ts";

/**
 * The result of a question: an answer given here, none (no terminal, or the person left), or
 * requests from elsewhere, now journaled.
 */
export type TerminalReply =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "none" }
  | { readonly kind: "requests"; readonly requests: readonly RunRequest[] };

export type TerminalQuestion = {
  readonly question: string;
  readonly choices: readonly string[];
  /**
   * Called before a request from elsewhere is journaled, since that changes the state in place. The
   * function it returns is called before the request is acknowledged.
   */
  readonly beforeRecording?: (request: RunRequest) => (() => Promise<void>) | null;
};

/** Asks the person at this terminal, and handles requests of others meanwhile. */
export async function askAtTerminal(
  context: CommandContext,
  openRun: OpenRun,
  { question, choices, beforeRecording }: TerminalQuestion,
): Promise<TerminalReply> {
  const requestQueue = await openRunRequests(context, openRun.folder);
  const withdrawal = new AbortController();
  const hasRequests = async (): Promise<boolean> => (await requestQueue.pending()).length > 0;
  const withdrawOnRequest = (): void =>
    void hasRequests().then((isWaiting) => isWaiting && withdrawal.abort());
  const unwatch = requestQueue.watch(withdrawOnRequest);

  try {
    const text = (await hasRequests())
      ? null
      : await context.ask(question, choices, withdrawal.signal);

    const requests = await requestQueue.pending();
    if (requests.length === 0) return text === null ? { kind: "none" } : { kind: "answer", text }; // L2

    const record = async (event: Draft): Promise<void> => {
      const request = requests.find(
        (candidate) => "request" in event && candidate.request === event.request,
      );
      const beforeAcknowledging =
        request === undefined ? null : (beforeRecording?.(request) ?? null);
      await openRun.append(event);
      await beforeAcknowledging?.();
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
