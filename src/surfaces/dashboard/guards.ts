// guards: decides which requests the server accepts. The page can do whatever its user may, so only
// that user's own browser tab may use it.
//
// Invariants:
//   G1. The server is reached by the names of loopback only: a name that was pointed at it from
//       elsewhere (DNS rebinding) is refused.
//   G2. No other origin is answered, and none is ever allowed: there are no cookies and no CORS, so
//       another page can't act for a person.
//   G3. Every request that shows or changes anything needs the token in a header. It is compared in
//       constant time and ends with the server.
//   G4. Every response, also a refusal, has the headers that keep a browser from running, framing,
//       sniffing or storing anything.

import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** 192 random bits. */
export const createToken = (): string => randomBytes(24).toString("base64url");

/** Why a request is not answered: the status, and what the page is told. */
export type Refused = { readonly status: 401 | 403 | 405 | 413 | 421 | 429; readonly says: string };

/** `style`: the one style sheet that may be in a page, by its hash. */
export const securityPolicy = (style: string): string =>
  `default-src 'none'; script-src 'self'; connect-src 'self'; style-src ${style}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": securityPolicy("'none'"),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
  "cache-control": "no-store",
}; // G4

export type GuardedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
};

/** Why a request is not answered; null if it is. */
export function findRefusal(
  { method, path, headers }: GuardedRequest,
  { port, token }: { readonly port: number; readonly token: string },
): Refused | null {
  const hosts = ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${port}`);
  if (!hosts.includes(headers.host ?? "")) {
    return { status: 421, says: "This server is 127.0.0.1 and nothing else." };
  } // G1

  const { origin } = headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
    return { status: 403, says: "Another origin may not ask here." };
  } // G2

  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && !(site === "none" && !isApi(path))) {
    return { status: 403, says: "Another site may not ask here." };
  } // G2

  if (method !== "GET" && method !== "POST") {
    return { status: 405, says: "GET and POST are answered." };
  }

  if (!isApi(path)) return method === "GET" ? null : { status: 405, says: "Pages are read." };
  if (!isToken(headers.authorization, token)) {
    return { status: 401, says: "The token is not this server's." };
  } // G3

  if (method === "POST" && origin === undefined && headers["sec-fetch-site"] !== undefined) {
    return { status: 403, says: "A browser that asks for a change says where it comes from." };
  } // G2

  if (method === "POST" && !(headers["content-type"] ?? "").startsWith("application/json")) {
    return { status: 403, says: "Requests are JSON." };
  } // a form of another page can't send it

  return null;
}

const isApi = (path: string): boolean => path.startsWith("/api/");

/** G3: constant in time, whatever is sent. */
function isToken(header: string | undefined, token: string): boolean {
  return isEqualConstantTime((header ?? "").replace(/^Bearer /, ""), token);
}

/** Compares without revealing by its duration how much of the candidate is right. */
export function isEqualConstantTime(candidate: string, secret: string): boolean {
  const expected = Buffer.concat([Buffer.from(secret), Buffer.alloc(1)]);
  const padded = Buffer.alloc(expected.length);
  const bytes = Buffer.from(candidate);
  bytes.copy(padded);

  return timingSafeEqual(padded, expected) && bytes.length === expected.length - 1;
}
