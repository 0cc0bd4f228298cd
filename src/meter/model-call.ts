// model-call: judges one call of an agent to a model, forwards it with the real key, counts the
// answer on its way back, and cuts it when the budget is used up.
//
// Invariants:
//   C1. No call is forwarded when nothing is left, or when its price is unknown and money is
//       limited.
//   C2. While an answer streams, the budget is checked again after every chunk; exceeding it ends
//       the stream.
//   C3. The real key goes to the provider and nowhere else.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ModelCall, Upstream } from "../ports/meter.ts";
import type { OpenAccount } from "./account.ts";
import { describeUsedUp } from "./describe-used-up.ts";
import { deliver } from "./deliver.ts";
import { openUsageCounter } from "./call-usage.ts";
import { type Credential, composeProviderHeaders } from "./headers.ts";
import { isLoopback } from "./addresses.ts";
import { openPerAccountMax } from "./limits.ts";
import { composePriceLine, type PriceOf } from "./prices.ts";
import { type Refusal, refuse } from "./refusal.ts";
import { type RequestBody, type HeldBytes, readRequest, addUsageRequest } from "./request-body.ts";
import { buildUrl, type Route } from "./routes.ts";
import type { Dial } from "./dial.ts";

/** What every call of a meter shares. */
export type MeterContext = {
  readonly accounts: () => Iterable<OpenAccount>;
  readonly priceOf: PriceOf;
  readonly now: () => number;
  readonly heldBytes: HeldBytes;
  readonly dial: Dial;
  /**
   * Whether this process certainly still owns the run: nothing is spent for one that may be
   * another's.
   */
  readonly isOwner: () => boolean;
};

/** One request of an agent to a model, whose token is that of an open account. */
export type AgentCall = {
  readonly account: OpenAccount;
  readonly route: Route;
  readonly credential: Credential;
  readonly query: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

export async function callModel(context: MeterContext, call: AgentCall): Promise<void> {
  const { account, route, request, response } = call;
  const upstream = account.request.upstreams.find(({ api }) => api === route.api);

  const refuseCall = (reason: Refusal, model: string): void => {
    // An agent that went away before its request was complete has asked nothing: there is no call
    // to record.
    const isAsked = route.kind === "model" && !response.destroyed;
    refuse(response, route.api, reason);

    if (isAsked) {
      account.recordCall({
        api: route.api,
        model,
        status: null,
        ended: "refused",
        error: reason.sentence,
        retryAt: null,
      });
    }
  };

  if (upstream === undefined) {
    return refuseCall({ status: 404, sentence: "No provider speaks this language here." }, "");
  }

  if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
    return refuseCall(
      { status: 400, sentence: "The meter reads requests as they are; send this one unpacked." },
      "",
    );
  }

  const body = await readRequest(request, context.heldBytes);
  if ("status" in body) return refuseCall(body, "");
  const model = route.model ?? body.model ?? "";
  const refusal = judgeCall(context, call, { upstream, body, model });
  if (refusal !== null || response.destroyed) {
    body.release();
    if (refusal !== null) refuseCall(refusal, model);
    // Last: its listener may close the account, and with it the connection.
    if (refusal?.isCut === true) account.cut(refusal.sentence);

    return;
  }

  const price = context.priceOf(model);
  const usageCounter = openUsageCounter(body.countedBytes, price);
  const isChatStream = route.api === "openai-chat" && body.isStream;
  const isCounted = route.kind === "model";
  const recordEnd = isCounted ? account.beginCall(usageCounter, price !== null) : (): void => {};
  usageCounter.send();
  deliver({
    context,
    account,
    route,
    usageCounter,
    upstream,
    url: buildUrl(upstream.base, route.path, call.query),
    headers: composeProviderHeaders(request.headers, upstream, call.credential.header), // C3
    body: isChatStream ? addUsageRequest(body) : [...body.chunks],
    release: body.release,
    response,
    explainUsedUp: () =>
      isCounted ? describeUsedUp(account, context.accounts(), "during a call") : null, // C2
    recordEnd: (end) => recordEnd({ api: route.api, model, ...end } satisfies ModelCall),
  });
}

/** Returned while the store has not confirmed that the run is ours; an agent may retry. */
export const runNotOwned: Refusal = {
  status: 503,
  sentence: "It isn't certain that this machine still has the run, so the model is not asked now.",
};

/** `isCut`: the turn can call no model any more, and is told so. */
type CallRefusal = Refusal & { readonly isCut?: boolean };

/**
 * Why a call is not forwarded; null if it is. Nothing may be awaited between this and its being
 * counted.
 */
function judgeCall(
  context: MeterContext,
  { account, route }: AgentCall,
  {
    upstream,
    body,
    model,
  }: { readonly upstream: Upstream; readonly body: RequestBody; readonly model: string },
): CallRefusal | null {
  if (!account.isOpen()) {
    return { status: 401, sentence: "This key was valid for one turn, and that turn is over." };
  }

  if (!context.isOwner()) return runNotOwned;
  if (account.countAttached("call") >= openPerAccountMax.call) {
    return { status: 429, sentence: `More than ${openPerAccountMax.call} calls at once.` };
  }

  const base = parseBase(upstream.base);
  if (base === null) {
    return {
      status: 400,
      sentence: "The provider's address is no http or https URL; correct `upstream` of this agent.",
    };
  }

  if (base.protocol === "http:" && !isLoopback(base.hostname)) {
    return {
      status: 400,
      sentence: "A key is sent unencrypted to this machine only; give `upstream` an https URL.",
    };
  }

  if (!/^[\x20-\x7e]*$/.test(upstream.key)) {
    return {
      status: 400,
      sentence:
        "The provider's key holds characters that no key has, perhaps a line's end; set it again.",
    };
  }

  const earlierCut = account.cutSentence();
  if (earlierCut !== null) return { status: 402, sentence: earlierCut };
  if (route.kind === "free") return null;
  if (model === "") return { status: 400, sentence: "The request names no model." };
  if (body.isBackground) {
    return {
      status: 400,
      sentence: "A call in the background cannot be counted; ask without `background`.",
    };
  }

  // C1
  if (Number.isFinite(account.request.left().usd) && context.priceOf(model) === null) {
    const sentence = `The budget is in US dollars and the price of ${model} is not known, so it is not asked; write "${composePriceLine(model)}" into the config.`;
    return { status: 402, sentence, isCut: true };
  }

  const usedUp = describeUsedUp(account, context.accounts(), "before a call");
  return usedUp === null ? null : { status: 402, sentence: usedUp, isCut: true };
}

function parseBase(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url : null;
  } catch {
    return null;
  }
}
