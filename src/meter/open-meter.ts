// open-meter: opens the meter: a unix socket, a loopback port if a sandbox shares the network, and
// the accounts behind them.

import { lookup } from "node:dns/promises";
import { chmod, lstat, mkdir, rm, stat } from "node:fs/promises";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { dirname } from "node:path";
import { invariant } from "../kit/invariant.ts";
import type { Account, AccountRequest, Meter } from "../ports/meter.ts";
import { type OpenAccount, openAccount } from "./account.ts";
import { openDial } from "./dial.ts";
import { createGateway, type GatewayContext } from "./gateway.ts";
import type { Lookup } from "./hosts.ts";
import { accountsMax } from "./limits.ts";
import type { PriceOf } from "./prices.ts";
import { prefixes } from "./routes.ts";
import { toolsPath } from "./answer-tool-call.ts";

export type MeterOptions = {
  /** Where its socket is: in a private folder of the user's (0700). */
  readonly socket: string;
  /** Also on 127.0.0.1, at a port of the system's choice, for levels that share the network. */
  readonly tcp: boolean;
  /** The port agents see inside a sandbox; null: the one of `tcp`. */
  readonly seenPort: number | null;
  readonly priceOf: PriceOf;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Receives every key and token, so that they can be redacted wherever something is written. */
  readonly secrets?: (value: string) => void;
  /** Whether this process certainly still owns the run; default: always. */
  readonly isOwner?: () => boolean;
  /** How names are resolved; default: by the system. */
  readonly lookup?: Lookup;
};

export type OpenMeter = Meter & {
  /** The port on 127.0.0.1; null without `tcp`. */
  readonly port: number | null;
  close(): Promise<void>;
};

/** The system's limit of a socket path, less the terminating byte. */
const socketPathBytesMax = process.platform === "darwin" ? 103 : 107;

export async function openMeter(options: MeterOptions): Promise<OpenMeter> {
  invariant(options.tcp || options.seenPort !== null, "a meter is seen under some port");
  const byToken = new Map<string, OpenAccount>();
  /** Open, or closed and not yet paid. */
  const accounts = new Set<OpenAccount>();
  let port: number | null = null;
  const dial = openDial();

  const gateway: GatewayContext = {
    accounts: () => accounts,
    findAccountByToken: (token) => byToken.get(token) ?? null,
    ports: () => [options.seenPort, port].filter((candidate) => candidate !== null),
    priceOf: options.priceOf,
    now: options.now,
    heldBytes: { bytes: 0 },
    dial,
    isOwner: options.isOwner ?? (() => true),
    lookup: options.lookup ?? systemLookup,
  };

  const gateways: ReturnType<typeof createGateway>[] = [];
  const close = async (): Promise<void> => {
    for (const account of accounts) account.close();
    byToken.clear();
    // A server removes the file of its socket.
    await Promise.all(
      gateways.map(
        ({ server, endAll }) => new Promise<void>((done) => (server.close(() => done()), endAll())),
      ),
    );

    dial.close();
  };

  try {
    await prepareFolder(options.socket);
    const unixGateway = createGateway(gateway);
    gateways.push(unixGateway);
    await listen(unixGateway.server, { path: options.socket });
    await chmod(options.socket, 0o600);

    if (options.tcp) {
      const loopback = createGateway(gateway);
      gateways.push(loopback);
      await listen(loopback.server, { host: "127.0.0.1", port: 0 });
      port = (loopback.server.address() as AddressInfo).port;
    }
  } catch (error) {
    await close();
    throw error;
  }

  const address = `http://127.0.0.1:${options.seenPort ?? port ?? 0}`;
  function open(request: AccountRequest): Account {
    // Paid and closed: no longer needed.
    for (const account of accounts) {
      if (!account.isOpen() && !account.request.isUnpaid()) accounts.delete(account);
    }

    invariant(
      accounts.size < accountsMax,
      `a meter has fewer than ${accountsMax} accounts at one time`,
    );

    const account = openAccount(request);
    accounts.add(account);
    byToken.set(account.token, account);
    options.secrets?.(account.token);
    for (const { key } of request.upstreams) options.secrets?.(key);

    return {
      token: account.token,
      address,
      urlOf: (api) => `${address}${prefixes[api]}`,
      proxyUrl: address.replace("http://", () => `http://autopilot:${account.token}@`),
      toolsUrl: `${address}${toolsPath}`,
      used: account.reportedUsage,
      calls: account.calls,
      refusedHosts: account.refusedHosts,
      close: () => {
        byToken.delete(account.token);
        account.close();
      },
    };
  }

  return { open, port, close };
}

const systemLookup: Lookup = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

async function prepareFolder(socket: string): Promise<void> {
  if (Buffer.byteLength(socket) > socketPathBytesMax) {
    throw new Error(
      `The path of the meter's socket is longer than ${socketPathBytesMax} bytes, which no system takes: ${socket}`,
    );
  }

  const folder = dirname(socket);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode, uid } = await stat(folder);
  if ((mode & 0o077) !== 0 || uid !== process.getuid?.()) {
    throw new Error(
      `The folder of the meter's socket is open to other users, or another user's; make it yours with: chmod 700 ${folder}`,
    );
  }

  const existing = await lstat(socket).catch(() => null);
  if (existing === null) return;
  if (!existing.isSocket() || (await isServed(socket))) {
    throw new Error(`Something else lies where the meter's socket belongs: ${socket}`);
  }

  await rm(socket); // Left by a process that was killed.
}

function isServed(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    probe.on("connect", () => (probe.destroy(), resolve(true)));
    probe.on("error", () => resolve(false));
  });
}

function listen(
  server: Server,
  address: { readonly path: string } | { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
