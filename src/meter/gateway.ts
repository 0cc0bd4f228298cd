// gateway: routes requests at the meter's socket: to a model, to a tool of the runner, to an
// allowed host, or nowhere.
//
// Invariants:
//   G1. Everything with an effect needs the token of an open account.
//   G2. Anything unknown is refused.

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
import { type Refusal, refuse } from "./refusal.ts";
import { findApis, removeKeysFromQuery, findRoute } from "./routes.ts";
import { answerToolCall, toolsPath } from "./answer-tool-call.ts";

/** What the servers of a meter share. */
export type GatewayContext = MeterContext & {
  /** The open account of this token. */
  readonly findAccountByToken: (token: string) => OpenAccount | null;
  /** The ports under which agents see this meter. */
  readonly ports: () => readonly number[];
  readonly lookup: Lookup;
};

/** A path that is quoted in a refusal is cut to this. */
const shownPathCharsMax = 200;

const keyInvalid: Refusal = {
  status: 401,
  sentence: "This key is not valid here: the meter knows the keys it gave out, each for one turn.",
};
const proxyTokenInvalid: Refusal = {
  status: 407,
  sentence: "The proxy needs the turn's own token as its password.",
};
const tooManyConnections: Refusal = {
  status: 429,
  sentence: `More than ${openPerAccountMax.connection} connections at once.`,
};

/**
 * One server of a meter: at its unix socket, or at its loopback port. `endAll` destroys every
 * connection.
 */
export function createGateway(gateway: GatewayContext): {
  readonly server: Server;
  readonly endAll: () => void;
} {
  const gatewayServer = new GatewayServer(gateway);
  return { server: gatewayServer.server, endAll: () => gatewayServer.endAll() };
}

class GatewayServer {
  readonly #gateway: GatewayContext;
  readonly server: Server;
  readonly #sockets = new Set<Socket>();
  /** Sockets that have not yet sent a token. */
  readonly #unclaimed = new Set<Socket>();

  constructor(gateway: GatewayContext) {
    this.#gateway = gateway;
    this.server = createServer({
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      noDelay: true,
      insecureHTTPParser: false,
    });

    this.server.maxHeadersCount = headersMax;
    this.server.maxConnections = connectionsMax;
    this.server.on("connection", (socket: Socket) => this.#onConnection(socket));
    this.server.on("clientError", (_error, socket: Socket) => {
      if (socket.writable && !socket.destroyed) {
        socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      }
    });

    this.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      response.on("error", () => response.destroy());
      this.#serve(request, response).catch(() => response.destroy());
    });

    this.server.on("connect", (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.#onConnect(request, socket, head),
    );
  }

  endAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #onConnection(socket: Socket): void {
    if (this.#sockets.has(socket)) return; // a tunnel to ourselves
    this.#sockets.add(socket);
    this.#unclaimed.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.#unclaimed.delete(socket);
    });

    if (this.#unclaimed.size > unclaimedConnectionsMax) socket.destroy();
  }

  #onConnect(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const authority = request.url ?? "";
    if (this.#isOwnAddress(authority)) {
      // A tunnel to ourselves: its requests are served as if they had come directly.
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.length > 0) socket.unshift(head);
      this.server.emit("connection", socket);

      return;
    }

    if (!this.#gateway.isOwner()) {
      return void socket.end(
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
      );
    }

    const account = this.#claimAccount(
      [findProxyToken(request.headers)],
      socket,
      proxyTokenInvalid,
    );

    openTunnel({ account, authority, socket, head, lookup: this.#gateway.lookup }).catch(() =>
      socket.destroy(),
    );
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = request.url ?? "";
    // Visible ASCII only, and neither a backslash nor a fragment.
    if (!/^[\x21-\x7e]+$/.test(text) || /[\\#]/.test(text)) {
      return refuse(response, null, { status: 400, sentence: "That is no plain path." });
    }

    if (text.startsWith("/")) return this.#serveLocal(text, request, response);
    const [, authority, pathAndQuery] = /^http:\/\/([^/?]*)([/?].*)?$/i.exec(text) ?? []; // "http://HOST:80/path?query"
    if (authority === undefined) {
      return refuse(response, null, {
        status: 400,
        sentence: "Ask for a path of this meter, or for http://HOST/; for https use CONNECT.",
      });
    }

    // Some agents send even requests for this machine through the proxy.
    if (this.#isOwnAddress(authority)) {
      return this.#serveLocal(pathAndQuery?.replace(/^\?/, "/?") ?? "/", request, response);
    }

    if (parseAuthority(authority, 80) === null || !URL.canParse(text)) {
      return refuse(response, null, {
        status: 403,
        sentence: "That is not plainly a host and a port.",
      });
    }

    if (!this.#gateway.isOwner()) return refuse(response, null, runNotOwned);
    const account = this.#claimAccount(
      [findProxyToken(request.headers)],
      request.socket,
      proxyTokenInvalid,
    );

    return forwardHttp({
      account,
      url: new URL(text),
      request,
      response,
      lookup: this.#gateway.lookup,
    });
  }

  /** A path of the meter's own: a call of a model, or of a tool of the runner. */
  async #serveLocal(
    text: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const [path = "/", ...rest] = text.split("?");
    const search = rest.join("?");
    const api = findApis(path)[0] ?? null;
    const host = parseAuthority(request.headers.host ?? "", 80);
    // A page in a browser has no business here, whatever name it found for this machine.
    if (host === null || !isLoopback(host.host) || request.headers.origin !== undefined) {
      return refuse(response, api, {
        status: 403,
        sentence: "This meter serves programs on this machine under its own address.",
      });
    }

    // Agents check whether the server is up; that reveals nothing.
    if (request.method === "HEAD" && (path === "/" || api !== null)) {
      return void response.writeHead(200).end();
    }

    const credentials = findCredentials(request.headers, search);
    const tokens = credentials.map(({ token }) => token);
    const account = this.#claimAccount(tokens, request.socket, keyInvalid);
    if ("status" in account) return refuse(response, api, account);
    const credential = credentials.find(({ token }) => token === account.token);
    if (credential === undefined) return refuse(response, api, keyInvalid);
    if (path === toolsPath) return answerToolCall(account, request, response);
    const route = findRoute(request.method, path, account.request.upstreams);
    if (route === null) {
      const sentence = `The meter does not send on ${request.method ?? ""} ${path.slice(0, shownPathCharsMax)}.`;
      return refuse(response, api, { status: 404, sentence }); // G2
    }

    return callModel(this.#gateway, {
      account,
      route,
      credential,
      query: removeKeysFromQuery(search),
      request,
      response,
    });
  }

  /**
   * The open account of the first valid token; a refusal if there is none (`invalid`), or if it has
   * too many connections.
   */
  #claimAccount(
    tokens: readonly (string | null)[],
    socket: Socket,
    invalid: Refusal,
  ): OpenAccount | Refusal {
    for (const token of tokens) {
      const account = token === null ? null : this.#gateway.findAccountByToken(token);
      if (account !== null) {
        return this.#claimSocket(account, socket) ? account : tooManyConnections;
      }
    }

    return invalid; // G1
  }

  /**
   * The connection belongs to this account from now on, and ends with it. False if the account has
   * too many.
   */
  #claimSocket(account: OpenAccount, socket: Socket): boolean {
    if (!this.#unclaimed.has(socket)) return true;
    if (account.countAttached("connection") >= openPerAccountMax.connection) return false;
    this.#unclaimed.delete(socket);
    // What was written to it last is still sent.
    const detach = account.attach("connection", () => {
      socket.destroySoon();
      setTimeout(() => socket.destroy(), abortGraceMs).unref();
    });
    socket.on("close", detach);

    return true;
  }

  #isOwnAddress(authority: string): boolean {
    const target = parseAuthority(authority, 80);
    return (
      target !== null && isLoopback(target.host) && this.#gateway.ports().includes(target.port)
    );
  }
}
