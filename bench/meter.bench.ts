// What the meter costs an agent: the wait for the first byte of an answer, and how quickly a stream
// comes through, each beside a call that goes straight to the provider. Provider and meter are
// processes of their own, as in life.

import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openMeter } from "../src/meter/open-meter.ts";
import { interleave, isQuick, median, plainEnv, quantile, report, withFolder } from "./measure.ts";

const rounds = isQuick ? 5 : 15;
const callsPerSlice = isQuick ? 20 : 50;
const streamBytes = (isQuick ? 32 : 96) * 1024 * 1024;
const model = "bench-1";
/**
 * What an agent sends in the midst of a conversation: instructions, tools, and what was said and
 * done so far.
 */
const requestBytes = 100_000;
const body = Buffer.from(
  JSON.stringify({
    model,
    stream: true,
    messages: [{ role: "user", content: 'const a = "b";\n'.repeat(requestBytes / 18) }],
  }),
);

const [, self = "", role, where = ""] = process.argv;
if (role === "provider") serveProvider();
else if (role === "meter") await serveMeter(where);
else await measure();

/**
 * Answers with two events at once, or with as many as fit into `streamBytes`; as quickly as they
 * are taken.
 */
function serveProvider(): void {
  const delta = (at: number): string =>
    `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words of a model ${at % 1000}"}}\n\n`;
  const start = `event: message_start\ndata: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":9,"output_tokens":1}}}\n\n`;
  const end = `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}\n\n`;
  const block = Buffer.from(Array.from({ length: 2000 }, (_, at) => delta(at)).join(""));

  const server = createServer((incoming, response) => {
    incoming.resume();
    incoming.on("end", () => {
      const blocks =
        incoming.headers["x-bench"] === "long" ? Math.ceil(streamBytes / block.length) : 0;
      const length = start.length + blocks * block.length + end.length;
      response.writeHead(200, { "content-type": "text/event-stream", "content-length": length });
      response.write(start);
      let sent = 0;

      const pump = (): void => {
        for (; sent < blocks; sent++) {
          if (!response.write(block)) {
            sent++;
            return void response.once("drain", pump);
          }
        }

        response.end(end);
      };
      pump();
    });
  });
  server.listen(0, "127.0.0.1", () =>
    process.send?.({ port: (server.address() as AddressInfo).port }),
  );
}

async function serveMeter(provider: string): Promise<void> {
  await withFolder(async (folder) => {
    chmodSync(folder, 0o700);
    const meter = await openMeter({
      socket: join(folder, "egress"),
      tcp: true,
      seenPort: null,
      priceOf: () => null,
      now: Date.now,
    });

    const account = meter.open({
      attempt: "bench",
      upstreams: [{ api: "anthropic", base: provider, key: "real" }],
      hosts: [],
      left: () => ({ tokens: 1e15, usd: Infinity, calls: Infinity }),
      isUnpaid: () => true,
      onCut: () => process.exit(1),
      onLife: () => {},
      onTool: async () => ({ ok: true, text: "" }),
    });

    process.send?.({ url: account.urlOf("anthropic"), token: account.token });
    await new Promise((done) => process.once("disconnect", done));
    await meter.close();
  });
}

async function measure(): Promise<void> {
  const provider = start(["provider"]);
  const base = `http://127.0.0.1:${(await reported<{ port: number }>(provider)).port}`;
  const meter = start(["meter", base]);
  const { url, token } = await reported<{ url: string; token: string }>(meter);
  const agent = new Agent({ keepAlive: true });
  const direct = { url: `${base}/v1/messages`, agent, token: "real" };
  const metered = { url: `${url}/v1/messages`, agent, token };

  try {
    const waits = await interleave(
      [
        { name: "direct", slice: () => quickOf(() => call(direct, "short")) },
        { name: "metered", slice: () => quickOf(() => call(metered, "short")) },
      ],
      rounds,
    );
    const quick = (name: string): number => quantile(waits[name] ?? [], 0.1);
    const note = `a request of ${requestBytes / 1000} kB; straight ${quick("direct").toFixed(2)} ms`;
    report("meter_first_byte", quick("metered") - quick("direct"), note);

    const streams = await interleave(
      [
        { name: "direct", slice: () => rateOf(direct) },
        { name: "metered", slice: () => rateOf(metered) },
      ],
      Math.ceil(rounds / 2),
    );
    const rate = (name: string): number => quantile(streams[name] ?? [], 0.9);
    report(
      "meter_stream",
      rate("metered"),
      `events of 130 bytes, each looked at; straight ${Math.round(rate("direct"))} MB/s; median ${Math.round(median(streams["metered"] ?? []))}`,
    );
  } finally {
    agent.destroy();
    meter.disconnect();
    provider.kill();
  }
}

type Way = { readonly url: string; readonly agent: Agent; readonly token: string };

/** Resolves at the first byte of a short answer, or with the last of a long one. */
function call(way: Way, length: "short" | "long"): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      "x-api-key": way.token,
      "x-bench": length,
      "content-type": "application/json",
      "content-length": body.length,
    };

    const asked = request(way.url, { method: "POST", agent: way.agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode ?? 0}`));
      if (length === "short") response.once("data", () => resolve());
      response.on("end", () => resolve());
      response.on("error", reject);
      response.resume();
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/**
 * A call is short and a neighbour only ever slows it, so the quick tenth tells more than the
 * middle.
 */
async function quickOf(action: () => Promise<void>): Promise<number> {
  const spent: number[] = [];
  for (let at = 0; at < callsPerSlice; at++) {
    const began = performance.now();
    await action();
    spent.push(performance.now() - began);
  }

  return quantile(spent, 0.1);
}

async function rateOf(way: Way): Promise<number> {
  const began = performance.now();
  await call(way, "long");
  return streamBytes / 1_000_000 / ((performance.now() - began) / 1000);
}

function start(argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, [self, ...argv], {
    env: plainEnv,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

function reported<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once("message", (message) => resolve(message as T));
    child.once("exit", () => reject(new Error("a part of the bench ended early")));
  });
}
