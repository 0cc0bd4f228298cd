// proxy: lets an agent reach the allowed hosts, and no other: CONNECT for TLS, absolute URLs for
// plain HTTP.
//
// Invariants:
//   P1. Nothing is dialled before token and host are verified, and exactly the judged address is
//       dialled.
//   P2. A tunnel ends with its account, and when it is silent for too long.

import { type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { OpenAccount } from "./account.ts";
import { selectProxiedHeaders } from "./headers.ts";
import { resolveAddress, type Lookup, type Target, parseAuthority } from "./hosts.ts";
import { dialTimeoutMs, openPerAccountMax, tunnelIdleMs } from "./limits.ts";
import { type Refusal, refuse } from "./refusal.ts";

/** Of something that is no host and port, this much is reported. */
const shownAuthorityCharsMax = 200;

/** Where to connect, or why not. */
type Decision =
  | { readonly account: OpenAccount; readonly target: Target; readonly address: string }
  | Refusal;

/** Judges a host before anything is dialled (P1). */
async function decideTarget(
  account: OpenAccount | Refusal,
  authority: string,
  defaultPort: number | null,
  lookup: Lookup,
): Promise<Decision> {
  if ("status" in account) return account;
  const target = parseAuthority(authority, defaultPort);
  if (target === null) {
    account.refuseHost(JSON.stringify(authority.slice(0, shownAuthorityCharsMax)));
    return { status: 403, sentence: "That is not plainly a host and a port." };
  }

  const resolution = await resolveAddress(target, account.judgeHost, lookup);
  if ("refused" in resolution) {
    account.refuseHost(`${target.host}:${target.port}`);
    return { status: 403, sentence: resolution.refused };
  }

  return { account, target, address: resolution.address };
}

/**
 * Why no tunnel is opened for this account now; null if one may be. Asked after the lookup, with
 * nothing awaited before the tunnel is attached: meanwhile the turn may have ended, and others may
 * have opened theirs.
 */
function judgeAccount(account: OpenAccount): Refusal | null {
  if (!account.isOpen()) {
    return { status: 407, sentence: "This token was valid for one turn, and that turn is over." };
  }

  if (account.countAttached("tunnel") < openPerAccountMax.tunnel) return null;
  return { status: 429, sentence: `More than ${openPerAccountMax.tunnel} tunnels at once.` };
}

export type TunnelRequest = {
  /** A refusal if the request has no valid token, or comes over one connection too many. */
  readonly account: OpenAccount | Refusal;
  readonly authority: string;
  readonly socket: Socket;
  /** What the agent sent already after its request. */
  readonly head: Buffer;
  readonly lookup: Lookup;
};

/** `CONNECT host:443`: bytes both ways, unread. */
export async function openTunnel({
  account,
  authority,
  socket,
  head,
  lookup,
}: TunnelRequest): Promise<void> {
  const decision = await decideTarget(account, authority, null, lookup);
  if (socket.destroyed) return;
  if ("status" in decision) return refuseSocket(socket, decision);
  const refusal = judgeAccount(decision.account);
  if (refusal !== null) return refuseSocket(socket, refusal);

  const upstream = connect({
    host: decision.address,
    port: decision.target.port,
    timeout: dialTimeoutMs,
  }); // P1

  const end = (): void => {
    upstream.destroy();
    socket.destroy();
  };
  const detach = decision.account.attach("tunnel", end); // P2
  upstream.on("timeout", end);
  let isConnected = false;
  upstream.on("error", () => {
    if (!isConnected) {
      return refuseSocket(socket, {
        status: 502,
        sentence: `${decision.target.host} does not answer.`,
      });
    }

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
  /** A refusal if the request has no valid token, or comes over one connection too many. */
  readonly account: OpenAccount | Refusal;
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly lookup: Lookup;
};

/** `GET http://host/path`: plain HTTP through the proxy. */
export async function forwardHttp({
  account,
  url,
  request,
  response,
  lookup,
}: ForwardRequest): Promise<void> {
  const decision = await decideTarget(account, url.host, 80, lookup);
  if (response.destroyed) return;
  if ("status" in decision) return refuseForward(response, decision);
  const refusal = judgeAccount(decision.account);
  if (refusal !== null) return refuseForward(response, refusal);

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
  upstream.on("error", () =>
    refuse(response, null, { status: 502, sentence: `${decision.target.host} does not answer.` }),
  );

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

function refuseForward(response: ServerResponse, refusal: Refusal): void {
  if (refusal.status === 407) response.setHeader("proxy-authenticate", proxyRealm);
  refuse(response, null, refusal);
}

function refuseSocket(socket: Socket, { status, sentence }: Refusal): void {
  if (socket.destroyed) return;
  const realm = status === 407 ? `Proxy-Authenticate: ${proxyRealm}\r\n` : "";
  const body = `${sentence}\n`;
  socket.end(
    `HTTP/1.1 ${status} Refused\r\n${realm}Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
