// egress: the real meter with a provider behind it, so that an agent's one way out is the one the
// product has.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMeter } from "../../src/meter/open-meter.ts";
import type { Isolation } from "../../src/workspace/isolation/confinement.ts";

export type OpenEgress = {
  readonly env: Readonly<Record<string, string>>;
  /** What a command at this level is given as its egress. */
  readonly egressAt: (isolation: Isolation) => { readonly socket: string; readonly port: number };
  /** Whether the provider was sent something with this word in it. */
  readonly reached: (word: string) => boolean;
  readonly close: () => Promise<void>;
};

/** The key that no agent may see. */
const realKey = "sk-hostile-suite-real-key";
const insidePort = 8642;
const endless = { tokens: Infinity, usd: Infinity, calls: Infinity };

export async function openEgress(): Promise<OpenEgress> {
  const folder = mkdtempSync(join(tmpdir(), "hostile-egress-"));
  let heard = "";

  const provider = createServer((request, response) => {
    heard += `${request.url ?? ""} ${JSON.stringify(request.headers)}\n`;
    request.on("data", (chunk: Buffer) => (heard += `${chunk.toString("utf8")}\n`));
    request.on("end", () =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"type":"message"}'),
    );
  });
  await new Promise<void>((ready) => void provider.listen(0, "127.0.0.1", ready));
  const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;

  const meter = await openMeter({
    socket: join(folder, "egress"),
    tcp: true,
    seenPort: insidePort,
    priceOf: () => null,
    now: () => Date.now(),
  });

  const order = {
    attempt: "1@1/execute#1",
    upstreams: [{ api: "anthropic", base, key: realKey }] as const,
    hosts: ["listed.example"],
    left: () => endless,
    isUnpaid: () => false,
    onCut: () => undefined,
    onLife: () => undefined,
    onTool: () => Promise.resolve({ ok: false, text: "no tools here" }),
  };
  const account = meter.open(order);
  const ended = meter.open({ ...order, attempt: "1@1/execute#0" });
  ended.close();

  return {
    env: { TOKEN: account.token, ENDED: ended.token, PROVIDER: base },
    egressAt: ({ hasOwnNetwork }) => ({
      socket: join(folder, "egress"),
      port: hasOwnNetwork ? insidePort : (meter.port ?? 0),
    }),
    reached: (word) => heard.includes(word),
    close: async () => {
      await meter.close();
      provider.closeAllConnections();
      await new Promise((closed) => provider.close(closed));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
