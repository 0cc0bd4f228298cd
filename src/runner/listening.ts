// listening: a question on the screen while the run stays within reach of every other terminal.
//
// Invariants:
//   L1. While somebody is asked here, requests from elsewhere are journaled and acknowledged at once; the question goes away.
//   L2. Whoever answers first counts: an answer from elsewhere is in the journal before the one typed here is inspected.

import type { Draft } from "../contracts/event.ts";
import { drain } from "../engine/requests.ts";
import type { Request } from "../ports/inbox.ts";
import { openInbox } from "../project/inbox/inbox.ts";
import type { OpenRun } from "./open-run.ts";
import type { CommandContext } from "../project/command-context.ts";

/** What came of a question: an answer given here, none (nobody is there, or they left), or requests from elsewhere that are journaled. */
export type OwnerMessage =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "none" }
  | { readonly kind: "requests"; readonly requests: readonly Request[] };

/**
 * Asks the person at this terminal, and hears what others ask of the run meanwhile. `around` is asked before a request is
 * journaled (the state changes in place), and what it gives is done before the request is acknowledged. */
export async function askListening(
  context: CommandContext,
  openRun: OpenRun,
  {
    question,
    choices,
    around,
  }: {
    readonly question: string;
    readonly choices: readonly string[];
    readonly around?: (request: Request) => (() => Promise<void>) | null;
  },
): Promise<OwnerMessage> {
  const inbox = await openInbox(openRun.folder);
  const withdrawn = new AbortController();
  const isThere = async (): Promise<boolean> => (await inbox.pending()).length > 0;
  const withdraw = (): void => void isThere().then((isMail) => isMail && withdrawn.abort());
  const unwatch = inbox.watch(withdraw);
  try {
    const text = (await isThere()) ? null : await context.ask(question, choices, withdrawn.signal);
    const requests = await inbox.pending();
    if (requests.length === 0) return text === null ? { kind: "none" } : { kind: "answer", text }; // L2
    const record = async (event: Draft): Promise<void> => {
      const request = requests.find((one) => "request" in event && one.request === event.request);
      const afterwards = request === undefined ? null : (around?.(request) ?? null);
      await openRun.append(event);
      await afterwards?.();
      if (request === undefined) return;
      inbox.acknowledge(request.request); // L1
    };
    await drain(inbox, openRun.view(), record);
    return { kind: "requests", requests };
  } finally {
    unwatch();
    await inbox.close();
  }
}
