// server: the dashboard's HTTP server: checks each request, serves the page's files and its data,
// and performs what a person asks for.
//
// Invariants:
//   H1. It listens on 127.0.0.1, and the guards see every request before anything else does.
//   H2. Reading never changes anything; a change runs the same code as its command, and only if the
//       page may make changes.
//   H3. No request can stop the server; errors are reported without a path or a stack.
//   H4. No process inside a run changes anything through it, whatever it knows, where the system
//       shows who asks (peer-process.ts).

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { Facts } from "../../commands/dashboard/facts.ts";
import { performRequest, readRequest } from "../../commands/dashboard/requests.ts";
import type { ResumeApart } from "../../commands/dashboard/resume-apart.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { reasons } from "../../contracts/reason.ts";
import { isFromRun } from "./peer-process.ts";
import { findRefusal, securityHeaders } from "./guards.ts";
import type { Assets } from "./assets.ts";
import { type EventStream, openStream } from "./stream.ts";
import type { Unlock } from "./unlock.ts";

export type DashboardSettings = {
  readonly context: CommandContext;
  readonly facts: Facts;
  readonly assets: Assets;
  readonly token: string;
  readonly unlock: Unlock;
  readonly resumeApart: ResumeApart;
};

const headerBytesMax = 16_384;
const requestTimeoutMs = 30_000;
const bodyBytesMax = 1_048_576;
/**
 * A body that is too large is read up to this many times the limit, then the connection is ended.
 */
const readFactorMax = 8;
/** As many as a page shows. */
const logRowsMax = 20_000;

export type Dashboard = { readonly port: number; readonly close: () => Promise<void> };

type RequestContext = DashboardSettings & { readonly stream: EventStream; readonly port: number };

/**
 * Listens on a port of 127.0.0.1; `port` 0 takes any. Throws the system's error if the port is
 * taken.
 */
export async function serveDashboard(
  settings: DashboardSettings,
  port: number,
): Promise<Dashboard> {
  const stream = openStream(settings.facts);
  let boundPort = port;

  const server: Server = createServer(
    { maxHeaderSize: headerBytesMax, requestTimeout: requestTimeoutMs },
    (request, response) => {
      void handleRequest(request, response, { ...settings, stream, port: boundPort }).catch(
        (error: unknown) => {
          // H3
          const isTooLarge = error instanceof TooLarge;
          sendJson(response, isTooLarge ? 413 : 500, {
            says: isTooLarge
              ? "That is too much."
              : "The server could not answer this; it goes on.",
          });
        },
      );
    },
  );

  await new Promise<void>((resolve, fail) => {
    server.once("error", fail);
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => resolve()); // H1
  });

  const address = server.address();
  if (typeof address === "object" && address !== null) boundPort = address.port;
  return {
    port: boundPort,
    close: () =>
      new Promise((resolve) => {
        stream.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  requestContext: RequestContext,
): Promise<void> {
  const { port, token, assets, stream, facts } = requestContext;
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  const url = new URL(`http://127.0.0.1${request.url ?? "/"}`);
  const method = request.method ?? "";
  const refused = findRefusal(
    { method, path: url.pathname, headers: request.headers },
    { port, token },
  ); // H1
  if (refused !== null) return sendJson(response, refused.status, { says: refused.says });
  if (!url.pathname.startsWith("/api/")) return sendAsset(response, assets, url.pathname);
  if (method === "POST") return handleChange(request, response, requestContext);
  if (url.pathname === "/api/events") {
    if (!stream.join(response)) sendJson(response, 429, { says: "Too many pages are open." });
    return;
  }

  const pageFacts = await findFacts(facts, url);
  if (pageFacts === undefined) {
    return sendJson(response, 404, {
      says: "There is no such thing here.",
      reason_code: "run_missing",
    });
  }

  sendJson(response, 200, pageFacts);
}

async function handleChange(
  request: IncomingMessage,
  response: ServerResponse,
  requestContext: RequestContext,
): Promise<void> {
  const { port, unlock, facts, context, resumeApart } = requestContext;
  const { pathname } = new URL(`http://127.0.0.1${request.url ?? "/"}`);
  const body = parseJson(await readBody(request));

  if (isFromRun(request.socket.remotePort, port)) {
    return sendJson(response, 403, {
      says: reasons.inside_a_run.meaning,
      reason_code: "inside_a_run",
    });
  } // H4

  if (pathname === "/api/unlock") return handleUnlock(response, unlock, body);
  if (pathname !== "/api/request") {
    return sendJson(response, 404, { says: "There is no such thing here." });
  }

  const pageRequest = readRequest(body);
  if ("problem" in pageRequest) return sendJson(response, 400, { says: pageRequest.problem });
  const readOnlyReason = await facts.findReadOnlyReason();
  const key = request.headers["x-unlock"];
  if (readOnlyReason !== null && !unlock.isKey(typeof key === "string" ? key : undefined)) {
    return sendJson(response, 403, {
      says: `Read-only: ${readOnlyReason}. Type the code that the terminal shows.`,
      reason_code: "read_only",
    });
  } // H2

  const commandResponse = await performRequest(pageRequest, {
    context,
    sourceOf: facts.sourceOf,
    resumeApart,
  });
  sendJson(response, 200, toPageResponse(commandResponse));
}

function handleUnlock(response: ServerResponse, unlock: Unlock, body: unknown): void {
  const code =
    typeof body === "object" && body !== null && "code" in body && typeof body.code === "string"
      ? body.code
      : "";
  const outcome = unlock.tryCode(code);
  if (outcome === "wrong") {
    return sendJson(response, 403, { says: "That is not the code the terminal shows." });
  }

  if (outcome === "shut") {
    return sendJson(response, 429, {
      says: "The code was wrong too often. Start the dashboard again for a new one.",
    });
  }

  sendJson(response, 200, outcome);
}

/** The data of one kind of page; undefined if there is nothing of that name. */
async function findFacts(facts: Facts, url: URL): Promise<unknown> {
  const key = url.searchParams.get("run") ?? "";
  const readNumber = (name: string): number =>
    Math.max(0, Number.parseInt(url.searchParams.get(name) ?? "0", 10) || 0);

  switch (url.pathname) {
    case "/api/overview":
      return facts.overview();
    case "/api/run": {
      const expanded = url.searchParams.get("expanded");
      return (
        facts.run(
          key,
          expanded === null ? undefined : new Set(expanded.split("\n").filter((id) => id !== "")),
        ) ?? undefined
      );
    }
    case "/api/head":
      return facts.head(key) ?? undefined;
    case "/api/log":
      return (
        facts.log(key, {
          after: readNumber("after"),
          before: readNumber("before"),
          max: Math.min(readNumber("max") || logRowsMax, logRowsMax),
        }) ?? undefined
      );
    case "/api/entry": {
      const entry = facts.entry(key, readNumber("seq"));
      return entry === null ? undefined : { entry };
    }
    case "/api/diff":
      return (await facts.diff(key)) ?? undefined;
    case "/api/file":
      return (await facts.file(key, url.searchParams.get("path") ?? "")) ?? undefined;
    case "/api/portfolio":
      return facts.portfolio();
    case "/api/fleet":
      return facts.fleet();
    case "/api/cost":
      return facts.cost();
    case "/api/settings":
      return facts.settings();
    default:
      return undefined;
  }
}

const toPageResponse = ({
  result,
  reason_code,
  message,
  warnings,
  remediation,
  state,
}: CommandResponse) => ({
  result,
  reason_code,
  message,
  warnings,
  remediation,
  state,
});

function sendAsset(response: ServerResponse, assets: Assets, path: string): void {
  const asset = assets[path];
  if (asset === undefined) return sendJson(response, 404, { says: "There is no such page." });
  response.writeHead(200, {
    "content-type": asset.type,
    ...(asset.policy === undefined ? {} : { "content-security-policy": asset.policy }),
  });

  response.end(asset.body);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent || response.writableEnded) {
    response.end();
    return;
  }

  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(body));
}

class TooLarge extends Error {}

/**
 * Reads on past the limit, so that the response reaches a client that still sends; but not for
 * ever.
 */
function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, fail) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes <= bodyBytesMax) parts.push(part);
      else if (bytes > bodyBytesMax * readFactorMax) request.destroy();
    });

    request.on("end", () =>
      bytes > bodyBytesMax ? fail(new TooLarge()) : resolve(Buffer.concat(parts).toString("utf8")),
    );

    request.on("error", fail);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
