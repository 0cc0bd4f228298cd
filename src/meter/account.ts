// account: opens one turn's account at the meter, which has its token, its usage, and its open
// calls.
//
// Invariants:
//   A1. A token gives access to its own turn, while that turn lasts, and to nothing else (looked up
//       in gateway.ts).
//   A2. What a call used stays in the account's sum after the call has ended.
//   A3. The agent's turn is notified once that it was cut.

import { randomBytes } from "node:crypto";
import type { ModelApi } from "../contracts/model-api.ts";
import type { ReportedUsage } from "../ports/agent.ts";
import type { AccountRequest, ModelCall } from "../ports/meter.ts";
import type { UsageCounter, CallUsage } from "./call-usage.ts";
import { usedNothing } from "./call-usage.ts";
import { type JudgeHost, createHostJudge } from "./hosts.ts";
import { callsKeptMax, refusedHostsMax } from "./limits.ts";

/** What ends with an account. */
export type AttachmentKind = "call" | "tunnel" | "connection";

export type OpenAccount = {
  readonly token: string;
  readonly request: AccountRequest;
  readonly judgeHost: JudgeHost;
  readonly isOpen: () => boolean;
  /** A call that is forwarded: it counts from here. The returned function ends it. */
  readonly beginCall: (usageCounter: UsageCounter, isPriced: boolean) => (call: ModelCall) => void;
  /** A call that is not forwarded. */
  readonly recordCall: (call: ModelCall) => void;
  readonly usage: () => CallUsage & { readonly calls: number };
  /** The same as the turn reports it; null before the first call. */
  readonly reportedUsage: () => ReportedUsage;
  /** The latest calls, up to a limit. */
  readonly calls: () => readonly ModelCall[];
  /** Tells the turn that it was cut, and why. */
  readonly cut: (sentence: string) => void;
  /** Why the turn was cut; null if it was not. */
  readonly cutSentence: () => string | null;
  /** Something that must end with the account; the returned function removes it again. */
  readonly attach: (kind: AttachmentKind, end: () => void) => () => void;
  readonly countAttached: (kind: AttachmentKind) => number;
  readonly refuseHost: (host: string) => void;
  readonly refusedHosts: () => readonly string[];
  readonly close: () => void;
};

export function openAccount(request: AccountRequest): OpenAccount {
  const live = new Set<UsageCounter>();
  const attached = {
    call: new Set<() => void>(),
    tunnel: new Set<() => void>(),
    connection: new Set<() => void>(),
  };

  const refused = new Set<string>();
  const calls: ModelCall[] = [];
  let endedUsage = usedNothing;
  let count = 0;
  let isAllPriced = true;
  let isOpen = true;
  let cutSentence: string | null = null;

  const recordCall = (call: ModelCall): void => {
    calls.push(call);
    if (calls.length > callsKeptMax) calls.shift();
  };

  const sumUsage = (): CallUsage & { calls: number } => {
    let sum = endedUsage;
    for (const usageCounter of live) sum = addUsage(sum, usageCounter.usage());
    return { ...sum, calls: count };
  };

  return {
    token: createToken(request.upstreams[0]?.api),
    request,
    judgeHost: createHostJudge(request.hosts),
    isOpen: () => isOpen,
    beginCall: (usageCounter, isPriced) => {
      live.add(usageCounter);
      count++;
      if (!isPriced) isAllPriced = false;

      return (call) => {
        if (!live.delete(usageCounter)) return;
        endedUsage = addUsage(endedUsage, usageCounter.usage()); // A2
        recordCall(call);
      };
    },
    recordCall,
    usage: sumUsage,
    reportedUsage: () => {
      if (count === 0) return null;
      const { usd, estimated, ...rest } = sumUsage();
      // A sum with a call of unknown price is unknown.
      return {
        ...rest,
        ...(isAllPriced ? { usd } : {}),
        ...(estimated > 0 ? { estimated } : {}),
        source: "metered",
      };
    },
    calls: () => [...calls],
    cut: (sentence) => {
      if (cutSentence !== null) return; // A3
      cutSentence = sentence;
      request.onCut(sentence);
    },
    cutSentence: () => cutSentence,
    attach: (kind, end) => {
      attached[kind].add(end);
      return () => void attached[kind].delete(end);
    },
    countAttached: (kind) => attached[kind].size,
    refuseHost: (host) => {
      if (refused.size < refusedHostsMax) refused.add(host);
    },
    refusedHosts: () => [...refused],
    close: () => {
      isOpen = false; // A1
      for (const end of [...attached.call, ...attached.tunnel, ...attached.connection]) end();
    },
  };
}

const addUsage = (a: CallUsage, b: CallUsage): CallUsage => ({
  tokens: a.tokens + b.tokens,
  input: a.input + b.input,
  output: a.output + b.output,
  cached: a.cached + b.cached,
  usd: a.usd + b.usd,
  estimated: a.estimated + b.estimated,
});

/**
 * Long, random, and of the shape that the provider's own programs expect of a key: letters and
 * digits after its prefix.
 */
function createToken(api: ModelApi | undefined): string {
  const secret = randomBytes(48).toString("base64url").replaceAll(/[-_]/g, "x");
  switch (api) {
    case "anthropic":
      return `sk-ant-api03-${secret}`;
    case "gemini":
      return `AIza${secret}`;
    case "openai-responses":
    case "openai-chat":
    case undefined:
      return `sk-proj-${secret}`;
  }
}
