// proxy: lets an agent reach the allowed hosts, and no other: CONNECT for TLS, absolute URLs for plain HTTP.
//
// Invariants:
//   P1. Nothing is dialled before token and host are verified, and exactly the judged address is dialled.
//   P2. A tunnel ends with its account, and when it is silent for too long.

import { type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { OpenAccount } from "./account.ts";
import { selectProxiedHeaders } from "./headers.ts";
import { resolveAddress, type Lookup, type Target, parseAuthority } from "./hosts.ts";
import { dialTimeoutMs, openPerAccountMax, tunnelIdleMs } from "./limits.ts";
import { refuse } from "./refusal.ts";

type Decision =
  | { readonly account: OpenAccount; readonly target: Target; readonly address: string }
  | { readonly status: number; readonly sentence: string };

async function decideTarget(account: OpenAccount | null, authority: string, defaultPort: number | null, lookup: Lookup): Promise<Decision> {
  if (account === null) return { status: 407, sentence: "The proxy needs the turn's own token as its password." };
  const target = parseAuthority(authority, defaultPort);
  if (target === null) {
    account.refuseHost(JSON.stringify(authority.slice(0, 200)));
    return { status: 403, sentence: "That is not plainly a host and a port." };
  }
  if (account.open("tunnel") >= openPerAccountMax.tunnel)
    return { status: 429, sentence: `More than ${openPerAccountMax.tunnel} tunnels at once.` };
  const resolution = await resolveAddress(target, account.allowed, lookup);
  if ("address" in resolution) {
    if (account.isOpen()) return { account, target, address: resolution.address };
    return { status: 407, sentence: "This token was valid for one turn, and that turn is over." };
  }
  account.refuseHost(`${target.host}:${target.port}`);
  return { status: 403, sentence: resolution.refused };
}

export type TunnelRequest = {
  /** Null if the request has no valid token. */
  readonly account: OpenAccount | null;
  readonly authority: string;
  readonly socket: Socket;
  /** What the agent sent already after its request. */
  readonly head: Buffer;
  readonly lookup: Lookup;
};

export async function openTunnel({ account, authority, socket, head, lookup }: TunnelRequest): Promise<void> {
  const decision = await decideTarget(account, authority, null, lookup);
  if (socket.destroyed) return;
  if ("status" in decision) return refuseSocket(socket, decision);
  const upstream = connect({ host: decision.address, port: decision.target.port, timeout: dialTimeoutMs }); // P1
  const end = (): void => {
    upstream.destroy();
    socket.destroy();
  };
  const detach = decision.account.attach("tunnel", end); // P2
  upstream.on("timeout", end);
  let isConnected = false;
  upstream.on("error", () => {
    if (!isConnected) return refuseSocket(socket, { status: 502, sentence: `${decision.target.host} does not answer.` });
    end();
  });
  upstream.on("close", () => {
    detach();
    socket.end();
  });
  socket.on("close", () => upstream.destroy());
  socket.on("error", end);
  upstream.on("connect", () => {
    isConnected = true;
    upstream.setTimeout(tunnelIdleMs); // P2
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) upstream.write(head);
    upstream.pipe(socket);
    socket.pipe(upstream);
  });
}

export type ForwardRequest = {
  /** Null if the request has no valid token. */
  readonly account: OpenAccount | null;
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly lookup: Lookup;
};

/** `GET http://host/path`: plain HTTP through the proxy. */
export async function forwardHttp({ account, url, request, response, lookup }: ForwardRequest): Promise<void> {
  const decision = await decideTarget(account, url.host, 80, lookup);
  if (response.destroyed) return;
  if ("status" in decision) {
    if (decision.status === 407) response.setHeader("proxy-authenticate", proxyRealm);
    return refuse(response, null, decision);
  }
  const upstream = requestHttp({
    host: decision.address, // P1
    port: decision.target.port,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: { ...selectProxiedHeaders(request.headers), host: url.host, connection: "close" },
    setHost: false,
    agent: false,
    timeout: dialTimeoutMs,
  });
  const detach = decision.account.attach("tunnel", () => upstream.destroy()); // P2
  upstream.on("timeout", () => upstream.destroy(new Error("silent")));
  upstream.on("close", detach);
  upstream.on("error", () => refuse(response, null, { status: 502, sentence: `${decision.target.host} does not answer.` }));
  upstream.on("response", (incoming) => {
    upstream.setTimeout(tunnelIdleMs);
    response.writeHead(incoming.statusCode ?? 502, selectProxiedHeaders(incoming.headers));
    incoming.on("error", () => response.destroy());
    incoming.on("aborted", () => response.destroy());
    incoming.pipe(response);
  });
  response.on("close", () => upstream.destroy());
  request.pipe(upstream);
}

const proxyRealm = 'Basic realm="autopilot"';

function refuseSocket(socket: Socket, { status, sentence }: { readonly status: number; readonly sentence: string }): void {
  if (socket.destroyed) return;
  const realm = status === 407 ? `Proxy-Authenticate: ${proxyRealm}\r\n` : "";
  const body = `${sentence}\n`;
  socket.end(
    `HTTP/1.1 ${status} Refused\r\n${realm}Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
