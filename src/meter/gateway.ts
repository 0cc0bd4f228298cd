// gateway: routes requests at the meter's socket: to a model, to a tool of the runner, to an allowed host, or nowhere.
//
// Invariants:
//   G1. Everything with an effect needs the token of an open account.
//   G2. Anything unknown is refused with a message.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { OpenAccount } from "./account.ts";
import { isLoopback } from "./addresses.ts";
import { findCredentials, findProxyToken } from "./headers.ts";
import { type Lookup, parseAuthority } from "./hosts.ts";
import {
  connectionsMax,
  abortGraceMs,
  headerBytesMax,
  headersMax,
  headersTimeoutMs,
  keepAliveTimeoutMs,
  openPerAccountMax,
  requestTimeoutMs,
  unclaimedConnectionsMax,
} from "./limits.ts";
import { callModel, type MeterContext, runNotOwned } from "./model-call.ts";
import { openTunnel, forwardHttp } from "./proxy.ts";
import { refuse } from "./refusal.ts";
import { findApis, removeKeysFromQuery, findRoute } from "./routes.ts";
import { callTool, toolsPath } from "./call-tool.ts";

export type Gateway = MeterContext & {
  /** The open account of this token. */
  readonly findAccountOf: (token: string) => OpenAccount | null;
  /** The ports under which agents see this meter. */
  readonly ports: () => readonly number[];
  readonly lookup: Lookup;
};

export function createGateway(gateway: Gateway): { readonly server: Server; readonly endAll: () => void } {
  const sockets = new Set<Socket>();
  const unclaimed = new Set<Socket>();
  const server = createServer({
    maxHeaderSize: headerBytesMax,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    noDelay: true,
    insecureHTTPParser: false,
  });
  server.maxHeadersCount = headersMax;
  server.maxConnections = connectionsMax;
  server.on("connection", (socket: Socket) => {
    if (sockets.has(socket)) return;
    sockets.add(socket);
    unclaimed.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      unclaimed.delete(socket);
    });
    if (unclaimed.size > unclaimedConnectionsMax) socket.destroy();
  });
  server.on("clientError", (_error, socket: Socket) => {
    if (socket.writable && !socket.destroyed) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });

  /** The connection belongs to this account from now on, and ends with it. */
  function claimSocket(account: OpenAccount, socket: Socket): boolean {
    if (!unclaimed.has(socket)) return true;
    if (account.open("connection") >= openPerAccountMax.connection) return false;
    unclaimed.delete(socket);
    // What was written to it last is still sent.
    const detach = account.attach("connection", () => {
      socket.destroySoon();
      setTimeout(() => socket.destroy(), abortGraceMs).unref();
    });
    socket.on("close", detach);
    return true;
  }

  function findAccount(tokens: readonly (string | null)[], socket: Socket): OpenAccount | null {
    for (const token of tokens) {
      const account = token === null ? null : gateway.findAccountOf(token);
      if (account !== null && claimSocket(account, socket)) return account; // G1
    }
    return null;
  }

  function isOwnAddress(authority: string): boolean {
    const target = parseAuthority(authority, 80);
    return target !== null && isLoopback(target.host) && gateway.ports().includes(target.port);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = request.url ?? "";
    if (!/^[\x21-\x7e]+$/.test(text) || /[\\#]/.test(text))
      return refuse(response, null, { status: 400, sentence: "That is no plain path." });
    if (text.startsWith("/")) return serveLocal(text, request, response);
    const authority = /^http:\/\/([^/?]*)([/?].*)?$/i.exec(text);
    if (authority?.[1] === undefined)
      return refuse(response, null, { status: 400, sentence: "Ask for a path of this meter, or for http://HOST/; for https use CONNECT." });
    // Some agents send even requests for this machine through the proxy.
    if (isOwnAddress(authority[1])) return serveLocal(authority[2]?.replace(/^\?/, "/?") ?? "/", request, response);
    if (parseAuthority(authority[1], 80) === null || !URL.canParse(text))
      return refuse(response, null, { status: 403, sentence: "That is not plainly a host and a port." });
    if (!gateway.isOwner()) return refuse(response, null, runNotOwned);
    const account = findAccount([findProxyToken(request.headers)], request.socket);
    return forwardHttp({ account, url: new URL(text), request, response, lookup: gateway.lookup });
  }

  async function serveLocal(text: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = "/", ...rest] = text.split("?");
    const search = rest.join("?");
    const apis = findApis(path);
    const api = apis[0] ?? null;
    const host = parseAuthority(request.headers.host ?? "", 80);
    // A page in a browser has no business here, whatever name it found for this machine.
    if (host === null || !isLoopback(host.host) || request.headers.origin !== undefined)
      return refuse(response, api, { status: 403, sentence: "This meter serves programs on this machine under its own address." });
    // Agents check whether the server is up; that reveals nothing.
    if (request.method === "HEAD" && (path === "/" || api !== null)) return void response.writeHead(200).end();

    const credentials = findCredentials(request.headers, search);
    const account = findAccount(
      credentials.map(({ token }) => token),
      request.socket,
    );
    const credential = credentials.find(({ token }) => token === account?.token);
    if (account === null || credential === undefined)
      return refuse(response, api, {
        status: 401,
        sentence: "This key is not valid here: the meter knows the keys it gave out, each for one turn.",
      });
    if (path === toolsPath) return callTool(account, request, response);
    const route = findRoute(request.method, path, account.request.upstreams);
    if (route === null)
      return refuse(response, api, { status: 404, sentence: `The meter does not send on ${request.method ?? ""} ${path.slice(0, 200)}.` }); // G2
    return callModel(gateway, { account, route, credential, query: removeKeysFromQuery(search), request, response });
  }

  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    response.on("error", () => response.destroy());
    serve(request, response).catch(() => response.destroy());
  });
  server.on("connect", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const authority = request.url ?? "";
    if (isOwnAddress(authority)) {
      // A tunnel to ourselves: its requests are served as if they had come directly.
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.length > 0) socket.unshift(head);
      server.emit("connection", socket);
      return;
    }
    if (!gateway.isOwner()) return void socket.end("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    const account = findAccount([findProxyToken(request.headers)], socket);
    openTunnel({ account, authority, socket, head, lookup: gateway.lookup }).catch(() => socket.destroy());
  });

  return {
    server,
    endAll: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
