// model-server: a model provider that does what a script says, on loopback. It speaks Anthropic
// Messages, OpenAI Responses and Chat Completions, and Gemini, whole and streamed, tells believable
// usage in each vendor's fields, and remembers every call. The words of the language stand in
// script.ts. A script is looked for in the `script` option, then in the prompt.
//
// Invariants:
//   M1. It listens on 127.0.0.1 only.
//   M2. Every call is remembered, the refused and the broken off too, with the usage the client was
//       really told.
//   M3. A call without tools is an agent's side call (a title, a summary) and gets a canned text,
//       lest the script be played twice; unless the prompt begins with a script that calls no tool:
//       then somebody asked for just that.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Answer, answerOf } from "./answer.ts";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import {
  type Api,
  type Asked,
  callsSincePrompt,
  lastPromptOf,
  standingOf,
} from "./conversation.ts";
import { gemini } from "./gemini.ts";
import { type Json, type JsonObject, objectOf } from "./json.ts";
import { responses } from "./responses.ts";
import { hasScript, type Planned, plannedIn, type Refusal, type Usage } from "./script.ts";
import { type Outcome, sendAnswer, sendJson, sendRefusal } from "./send.ts";
import type { Vendor } from "./vendor.ts";

export type ModelServerOptions = {
  /**
   * One script for every turn; or one answer for each call with tools, in order; or what to play
   * for what is asked, if anything.
   */
  readonly script?: string | readonly string[] | ((asked: Asked) => string | undefined);
  /** The keys that are let in; without it every key is. */
  readonly keys?: readonly string[];
  readonly port?: number;
  readonly onCall?: (call: Call) => void;
  /** Everything that is asked, as it came. */
  readonly onBody?: (body: JsonObject) => void;
};

export type Call = {
  readonly number: number;
  readonly api: Api;
  readonly path: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string | null;
  readonly prompt: string;
  readonly tools: readonly string[];
  readonly isSideCall: boolean;
  readonly status: number;
  readonly outcome: Outcome;
  /** What the client was told; null if it was told nothing. */
  readonly usage: Usage | null;
};

export type ModelServer = {
  readonly url: string;
  readonly calls: () => readonly Call[];
  readonly close: () => Promise<void>;
};

const vendors: Readonly<Record<Api, Vendor>> = { anthropic, responses, chat, gemini };
const requestBytesMax = 64 * 1024 * 1024;

export async function openModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const calls: Call[] = [];
  const refusedTimes = new Map<string, number>();
  const counted = { scripted: 0, number: 0 };

  const isRefusedAgain = (refusal: Refusal, key: string): boolean => {
    const before = refusedTimes.get(key) ?? 0;
    refusedTimes.set(key, before + 1);
    return before < refusal.times;
  };

  const answerModel = async (
    api: Api,
    body: JsonObject,
    url: URL,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const vendor = vendors[api];
    options.onBody?.(body);
    const asked = vendor.read(body, url);
    const number = ++counted.number;
    const key = keyOf(request, url);
    const isSideCall = isAside(asked);

    const note = (status: number, outcome: Outcome, usage: Usage | null): void => {
      const call: Call = {
        number,
        api,
        path: url.pathname,
        model: asked.model,
        isStream: asked.isStream,
        headers: headersOf(request),
        key,
        prompt: lastPromptOf(asked),
        tools: asked.tools.map(({ name, group }) => (group === null ? name : `${group}::${name}`)),
        isSideCall,
        status,
        outcome,
        usage,
      };
      calls.push(call); // M2
      options.onCall?.(call);
    };

    if (options.keys !== undefined && (key === null || !options.keys.includes(key))) {
      sendRefusal(response, vendor, notAllowed);
      note(401, "refused", null);
      return;
    }

    const planned = isSideCall ? aside : planOf(asked, options.script, () => counted.scripted++);
    const answer = answerOf(planned, asked);
    const refusal = planned.refusal;
    const isRefused =
      refusal !== null &&
      isRefusedAgain(refusal, `${lastPromptOf(asked)}#${callsSincePrompt(asked)}`);

    const sent = await sendAnswer(response, vendor, {
      answer,
      asked,
      url,
      planned: isRefused ? planned : { ...planned, refusal: null },
    });
    note(sent.status, sent.outcome, sent.hasUsage ? answer.usage : null);
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    response.on("error", () => undefined);
    void bodyOf(request).then(
      async (body) => {
        const api = apiOf(request.method ?? "", url);
        if (api !== null) return answerModel(api, body, url, request, response);
        sendJson(response, ...besides(request, url, body));
      },
      () => response.destroy(),
    );
  });

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve); // M1
  });

  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls: () => [...calls],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const notAllowed: Refusal = {
  status: 401,
  retryAfterS: 0,
  times: Infinity,
  limit: "rate",
  midStream: false,
};
const [aside] = plannedIn("[[say A scripted session]]") as readonly [Planned];

function isAside(asked: Asked): boolean {
  const prompt = lastPromptOf(asked);
  // Claude Code asks with all its tools what its user might say next.
  if (asked.tools.length > 0) return prompt.startsWith("[SUGGESTION MODE");
  const isAskedFor =
    prompt.trimStart().startsWith("[[") && hasScript(prompt) && plannedIn(prompt).length === 1;

  return !isAskedFor; // M3
}

function planOf(asked: Asked, script: ModelServerOptions["script"], next: () => number): Planned {
  const end = plannedIn("").at(-1) as Planned;
  if (typeof script === "object") return plannedIn(script[next()] ?? "")[0] ?? end;
  const given = typeof script === "function" ? script(asked) : script;
  const standing = standingOf(asked);
  const [text, calls] =
    given === undefined
      ? [standing?.prompt ?? "", standing?.calls ?? 0]
      : [given, callsSincePrompt(asked)];
  const planned = plannedIn(text);

  return planned[Math.min(calls, planned.length - 1)] ?? end;
}

function apiOf(method: string, { pathname }: URL): Api | null {
  if (method !== "POST") return null;
  if (pathname.endsWith("/messages")) return "anthropic";
  if (pathname.endsWith("/responses")) return "responses";
  if (pathname.endsWith("/chat/completions")) return "chat";

  return /:(streamG|g)enerateContent$/.test(pathname) ? "gemini" : null;
}

/** What clients ask besides answers: is somebody there, which models, how many tokens. */
function besides(
  { method, headers }: IncomingMessage,
  { pathname }: URL,
  body: JsonObject,
): readonly [status: number, body: Json] {
  const tokens = Math.ceil(JSON.stringify(body).length / 4);
  if (pathname.endsWith("/count_tokens")) return [200, { input_tokens: tokens }];
  if (pathname.endsWith(":countTokens")) return [200, { totalTokens: tokens }];
  if (method === "GET" && pathname.endsWith("/v1beta/models")) {
    return [200, { models: [{ name: "models/scripted-1", displayName: "Scripted" }] }];
  }

  if (method === "GET" && pathname.endsWith("/models")) {
    const one =
      headers["anthropic-version"] === undefined
        ? { object: "model", owned_by: "nobody", created: 1 }
        : { type: "model", display_name: "Scripted" };

    return [200, { object: "list", data: [{ id: "scripted-1", ...one }], has_more: false }];
  }

  if (pathname === "/" && (method === "HEAD" || method === "GET")) return [200, {}];
  return [
    404,
    {
      error: {
        message: `nothing is at ${method} ${pathname}`,
        type: "invalid_request_error",
        code: null,
        param: null,
      },
    },
  ];
}

function keyOf({ headers }: IncomingMessage, url: URL): string | null {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
  const named = headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers["api-key"];
  return bearer ?? (typeof named === "string" ? named : url.searchParams.get("key"));
}

const headersOf = ({ headers }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

async function bodyOf(request: IncomingMessage): Promise<JsonObject> {
  const parts: Buffer[] = [];
  let bytes = 0;

  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > requestBytesMax) throw new Error("the request is too large");
    parts.push(part);
  }

  const text = Buffer.concat(parts).toString("utf8");
  return text.trim() === "" ? {} : objectOf(JSON.parse(text) as Json);
}

export type { Answer, Asked };
