// proxy: lets an agent reach the allowed hosts, and no other: CONNECT for TLS, absolute URLs for plain HTTP.
//
// Invariants:
//   P1. Nothing is dialled before token and host are verified, and exactly the judged address is dialled.
//   P2. A tunnel ends with its account, and when it is silent for too long.

import { type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { OpenAccount } from "./account.ts";
import { headersOfProxied } from "./headers.ts";
import { addressFor, type Lookup, type Target, authorityTarget } from "./hosts.ts";
import { dialTimeoutMs, openMax, tunnelIdleMs } from "./limits.ts";
import { refuse } from "./refusal.ts";

type Judged =
  | { readonly account: OpenAccount; readonly target: Target; readonly address: string }
  | { readonly status: number; readonly sentence: string };

async function judge(account: OpenAccount | null, authority: string, portElse: number | null, lookup: Lookup): Promise<Judged> {
  if (account === null) return { status: 407, sentence: "The proxy needs the turn's own token as its password." };
  const target = authorityTarget(authority, portElse);
  if (target === null) {
    account.refuseHost(JSON.stringify(authority.slice(0, 200)));
    return { status: 403, sentence: "That is not plainly a host and a port." };
  }
  if (account.open("tunnel") >= openMax.tunnel) return { status: 429, sentence: `More than ${openMax.tunnel} tunnels at once.` };
  const found = await addressFor(target, account.allowed, lookup);
  if ("address" in found) {
    if (account.isOpen()) return { account, target, address: found.address };
    return { status: 407, sentence: "This token was valid for one turn, and that turn is over." };
  }
  account.refuseHost(`${target.host}:${target.port}`);
  return { status: 403, sentence: found.refused };
}

export async function openTunnel(
  account: OpenAccount | null,
  authority: string,
  socket: Socket,
  head: Buffer,
  lookup: Lookup,
): Promise<void> {
  const judged = await judge(account, authority, null, lookup);
  if (socket.destroyed) return;
  if ("status" in judged) return sayNo(socket, judged);
  const far = connect({ host: judged.address, port: judged.target.port, timeout: dialTimeoutMs }); // P1
  const end = (): void => {
    far.destroy();
    socket.destroy();
  };
  const detach = judged.account.attach("tunnel", end); // P2
  far.on("timeout", end);
  let isThrough = false;
  far.on("error", () => {
    if (!isThrough) return sayNo(socket, { status: 502, sentence: `${judged.target.host} does not answer.` });
    end();
  });
  far.on("close", () => {
    detach();
    socket.end();
  });
  socket.on("close", () => far.destroy());
  socket.on("error", end);
  far.on("connect", () => {
    isThrough = true;
    far.setTimeout(tunnelIdleMs); // P2
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) far.write(head);
    far.pipe(socket);
    socket.pipe(far);
  });
}

/** `GET http://host/path`: plain HTTP through the proxy. */
export async function sendOn(
  account: OpenAccount | null,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
  lookup: Lookup,
): Promise<void> {
  const judged = await judge(account, url.host, 80, lookup);
  if (response.destroyed) return;
  if ("status" in judged) {
    if (judged.status === 407) response.setHeader("proxy-authenticate", proxyRealm);
    return refuse(response, null, judged);
  }
  const far = requestHttp({
    host: judged.address, // P1
    port: judged.target.port,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: { ...headersOfProxied(request.headers), host: url.host, connection: "close" },
    setHost: false,
    agent: false,
    timeout: dialTimeoutMs,
  });
  const detach = judged.account.attach("tunnel", () => far.destroy()); // P2
  far.on("timeout", () => far.destroy(new Error("silent")));
  far.on("close", detach);
  far.on("error", () => refuse(response, null, { status: 502, sentence: `${judged.target.host} does not answer.` }));
  far.on("response", (incoming) => {
    far.setTimeout(tunnelIdleMs);
    response.writeHead(incoming.statusCode ?? 502, headersOfProxied(incoming.headers));
    incoming.on("error", () => response.destroy());
    incoming.on("aborted", () => response.destroy());
    incoming.pipe(response);
  });
  response.on("close", () => far.destroy());
  request.pipe(far);
}

const proxyRealm = 'Basic realm="autopilot"';

function sayNo(socket: Socket, { status, sentence }: { readonly status: number; readonly sentence: string }): void {
  if (socket.destroyed) return;
  const realm = status === 407 ? `Proxy-Authenticate: ${proxyRealm}\r\n` : "";
  const body = `${sentence}\n`;
  socket.end(
    `HTTP/1.1 ${status} Refused\r\n${realm}Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
