// fake-meter: a meter that counts what it is told. Its model endpoint answers with the status an
// agent asks it for, and it serves the runner's tools as the real one does.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Account, AccountRequest, Meter, ModelCall } from "../../src/ports/meter.ts";
import type { ReportedUsage } from "../../src/ports/agent.ts";

export type FakeMeter = Meter & {
  readonly orders: AccountRequest[];
  readonly seen: { opened: number; closed: number; tools: string[] };
  readonly stop: () => Promise<void>;
};

/** What an agent asks the fake provider for. */
type Wish = {
  readonly status?: number;
  readonly model?: string;
  readonly error?: string;
  readonly retryAt?: string;
  readonly cut?: string;
};

export async function openFakeMeter(): Promise<FakeMeter> {
  const accounts = new Map<string, { request: AccountRequest; calls: ModelCall[] }>();
  const orders: AccountRequest[] = [];
  const seen = { opened: 0, closed: 0, tools: [] as string[] };

  const server = createServer((request, response) => {
    void (async () => {
      const token =
        /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ??
        String(request.headers["x-api-key"] ?? "");
      const account = accounts.get(token);
      const body = JSON.parse((await text(request)) || "{}") as {
        tool?: string;
        arguments?: unknown;
      } & Wish;

      if (account === undefined) return response.writeHead(401).end("the token opens nothing");
      if (request.url === "/autopilot/tools") {
        seen.tools.push(body.tool ?? "");
        const answer = await account.request.onTool(body.tool ?? "", body.arguments);
        return response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify(answer));
      }

      if (body.cut !== undefined) {
        account.request.onCut(body.cut);
        return response.destroy();
      }

      const status = body.status ?? 200;
      account.request.onLife();
      account.calls.push({
        api: "anthropic",
        model: body.model ?? "big",
        status,
        ended: "whole",
        error: body.error ?? null,
        retryAt: body.retryAt ?? null,
      });

      return response.writeHead(status).end("{}");
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const open = (asked: AccountRequest): Account => {
    const token = `token-${(seen.opened += 1)}`;
    const calls: ModelCall[] = [];
    orders.push(asked);
    accounts.set(token, { request: asked, calls });

    const used = (): ReportedUsage => {
      const good = calls.filter(({ status }) => status === 200).length;
      return calls.length === 0
        ? null
        : {
            tokens: 1000 * good,
            input: 900 * good,
            output: 100 * good,
            usd: 0.5 * good,
            calls: calls.length,
          };
    };

    return {
      token,
      address,
      urlOf: (api) => `${address}/${api}`,
      proxyUrl: `http://autopilot:${token}@127.0.0.1`,
      toolsUrl: `${address}/autopilot/tools`,
      used,
      calls: () => calls,
      refusedHosts: () => [],
      close: () => {
        seen.closed += 1;
        accounts.delete(token);
      },
    };
  };

  return {
    open,
    orders,
    seen,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
