// stand: a meter with real sockets, a provider that does what a test says, and a client that hears
// how an answer ends.

import { mkdtempSync, rmSync } from "node:fs";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelApi } from "../../src/contracts/model-api.ts";
import { type MeterOptions, type OpenMeter, openMeter } from "../../src/meter/open-meter.ts";
import type { Account, AccountRequest } from "../../src/ports/meter.ts";
import { samples } from "../../src/meter/samples.test-support.ts";

export const realKey = "sk-real-0123456789-very-secret-key";
export const endless = { tokens: Infinity, usd: Infinity, calls: Infinity };
export const nowMs = Date.UTC(2026, 0, 1);

export type Seen = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  isClosed: boolean;
};
export type Provider = {
  readonly base: string;
  readonly port: number;
  readonly seen: Seen[];
  readonly close: () => Promise<void>;
};
export type Play = (
  response: ServerResponse,
  seen: Seen,
  request: IncomingMessage,
) => void | Promise<void>;

export async function openProvider(play: Play): Promise<Provider> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const item: Seen = {
        method,
        url,
        headers,
        body: Buffer.concat(chunks).toString(),
        isClosed: false,
      };
      response.on("close", () => (item.isClosed = true));
      seen.push(item);
      void play(response, item, request);
    });
  });
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;

  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });

  return { base: `http://127.0.0.1:${port}`, port, seen, close };
}

export type Stand = {
  readonly meter: OpenMeter;
  readonly secrets: string[];
  readonly open: (
    asked: Partial<AccountRequest> & { readonly base?: string },
  ) => Account & { readonly cuts: string[]; readonly lives: () => number };
  readonly close: () => Promise<void>;
  readonly socket: string;
};

export async function openStand(options: Partial<MeterOptions> = {}): Promise<Stand> {
  const folder = mkdtempSync(join(tmpdir(), "meter-"));
  const socket = join(folder, "egress");
  const secrets: string[] = [];

  const meter = await openMeter({
    socket,
    tcp: true,
    seenPort: null,
    priceOf: () => null,
    now: () => nowMs,
    secrets: (value) => secrets.push(value),
    ...options,
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });

  return {
    meter,
    secrets,
    socket,
    open: ({ base = "http://127.0.0.1:1", ...order }) => {
      const cuts: string[] = [];
      let lives = 0;
      const apis: readonly ModelApi[] = ["anthropic", "openai-responses", "openai-chat", "gemini"];

      const account = meter.open({
        attempt: "a",
        upstreams: apis.map((api) => ({
          api,
          base: api.startsWith("openai") ? `${base}/v1` : base,
          key: realKey,
        })),
        hosts: [],
        left: () => endless,
        isUnpaid: () => true,
        onCut: (sentence) => cuts.push(sentence),
        onLife: () => lives++,
        onTool: async () => ({ ok: true, text: "" }),
        ...order,
      });

      return { ...account, cuts, lives: () => lives };
    },
    close: async () => {
      await meter.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type ReadOutput = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly isBroken: boolean;
};
export type Ask = {
  readonly path?: string;
  readonly body?: object | string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly onChunk?: (text: string, stop: () => void) => void;
};

/** Asks in the given language, as its programs do. */
export function ask(
  account: { readonly token: string; readonly urlOf: (api: ModelApi) => string },
  api: ModelApi,
  given: Ask = {},
): Promise<ReadOutput> {
  return send(`${account.urlOf(api)}${given.path ?? paths[api]}`, {
    body: { model: "m-1", stream: true, messages: [] },
    ...given,
    headers: { ...keyHeaders(account.token)[api], ...given.headers },
  });
}

export const paths: Readonly<Record<ModelApi, string>> = {
  anthropic: "/v1/messages?beta=true",
  "openai-responses": "/responses",
  "openai-chat": "/chat/completions",
  gemini: "/v1beta/models/m-1:streamGenerateContent?alt=sse",
};
const keyHeaders = (token: string): Record<ModelApi, Record<string, string>> => ({
  anthropic: { "x-api-key": token },
  "openai-responses": { authorization: `Bearer ${token}` },
  "openai-chat": { authorization: `Bearer ${token}` },
  gemini: { "x-goog-api-key": token },
});

export function send(
  url: string,
  { body, headers, method = "POST", onChunk }: Ask,
): Promise<ReadOutput> {
  return new Promise((resolve, reject) => {
    const text = typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body);
    const request = requestHttp(
      url,
      { method, headers: { "content-type": "application/json", ...headers }, agent: false },
      (response) => {
        let heard = "";
        const end = (isBroken: boolean): void =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: heard,
            isBroken,
          });

        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          heard += chunk;
          onChunk?.(heard, () => request.destroy());
        });

        response.on("end", () => end(!response.complete));
        response.on("error", () => end(true));
      },
    );
    request.on("error", reject);
    request.end(text);
  });
}

/** Writes these very bytes to the meter's port, and hears what comes back until it closes. */
export function raw(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const timer = setTimeout(() => socket.destroy(), 5000);
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => (heard += String(chunk)));
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(heard);
    });
  });
}

export function apiOf(url: string): ModelApi {
  if (url.includes("/messages")) return "anthropic";
  if (url.includes("/responses")) return "openai-responses";
  return url.includes("/chat/") ? "openai-chat" : "gemini";
}

/**
 * Answers with the sample of whichever language is spoken: as a stream where the request asks for
 * one.
 */
export const playSamples: Play = (response, { url, body }) => {
  const sample = samples.find(({ api }) => api === apiOf(url));
  const isStream = url.includes("stream") || body.includes('"stream":true');
  response.writeHead(200, {
    "content-type": isStream ? "text/event-stream; charset=utf-8" : "application/json",
  });

  response.end(isStream ? sample?.events : sample?.whole);
};

/**
 * Goes on for ever with pieces of text, as a model that cannot stop; each piece is 100 bytes of
 * text.
 */
export const playEndless: Play = (response, { url }) => {
  const text = "x".repeat(100);
  const piece = {
    anthropic: `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"${text}"}}\n\n`,
    "openai-responses": `event: response.reasoning_text.delta\ndata: {"type":"response.reasoning_text.delta","delta":"${text}"}\n\n`,
    "openai-chat": `data: {"choices":[{"index":0,"delta":{"reasoning_content":"${text}"},"finish_reason":null}],"usage":null}\n\n`,
    gemini: `data: {"candidates":[{"content":{"parts":[{"thought":true,"text":"${text}"}]}}]}\n\n`,
  }[apiOf(url)];

  response.writeHead(200, { "content-type": "text/event-stream" });
  const timer = setInterval(() => response.write(piece), 2);
  response.on("close", () => clearInterval(timer));
};

export async function until(holds: () => boolean, timeoutMs = 10_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!holds()) {
    if (Date.now() > end) throw new Error("it never came to that");
    await new Promise((done) => setTimeout(done, 5));
  }
}
