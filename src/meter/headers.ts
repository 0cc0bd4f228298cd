// headers: selects which of an agent's headers go to the provider and which come back, and finds a
// token in them.

import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Upstream } from "../ports/meter.ts";

/** Headers of one connection, of a proxy, or of a message's encoding. */
const hopByHop: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "http2-settings",
];
/** Headers not passed to the provider: identity, origin, method overrides. */
const droppedHeaders: readonly string[] = [
  "host",
  "content-length",
  "accept-encoding",
  "authorization",
  "x-api-key",
  "x-goog-api-key",
  "api-key",
  "cookie",
  "origin",
  "referer",
  "via",
  "forwarded",
  "x-real-ip",
  "x-http-method-override",
  "x-http-method",
  "x-method-override",
];
const droppedPrefixes: readonly string[] = ["x-forwarded-", "proxy-"];
/** Headers of the provider that an agent needs. */
const returnedHeaders =
  /^(?:content-type|content-length|cache-control|date|retry-after(?:-ms)?|request-id|x-request-id|x-should-retry|x-ratelimit-.*|anthropic-.*|openai-.*|x-goog-.*|x-codex-.*|x-models-etag)$/;

/** A token, and the header in which the provider expects its key. */
export type Credential = {
  readonly token: string;
  readonly header: "x-api-key" | "authorization" | "x-goog-api-key";
};

/** The tokens at all places where provider SDKs put a key. */
export function findCredentials(
  headers: IncomingHttpHeaders,
  search: string,
): readonly Credential[] {
  const credentials: Credential[] = [];
  const apiKey = headers["x-api-key"];
  if (typeof apiKey === "string") credentials.push({ token: apiKey, header: "x-api-key" });
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  if (bearer !== undefined) credentials.push({ token: bearer, header: "authorization" });
  const google = headers["x-goog-api-key"];
  if (typeof google === "string") credentials.push({ token: google, header: "x-goog-api-key" });
  const query = new URLSearchParams(search).get("key");
  if (query !== null) credentials.push({ token: query, header: "x-goog-api-key" });

  return credentials;
}

/** The token in `Proxy-Authorization`: the password of Basic, or Bearer. */
export function findProxyToken(headers: IncomingHttpHeaders): string | null {
  const [, scheme, value] =
    /^(Basic|Bearer) +(\S+)$/i.exec(headers["proxy-authorization"] ?? "") ?? [];
  if (scheme === undefined || value === undefined) return null;
  if (scheme.toLowerCase() === "bearer") return value;

  return /^[^:]*:(.+)$/.exec(Buffer.from(value, "base64").toString("latin1"))?.[1] ?? null;
}

/**
 * The agent's headers as the provider gets them: with the real key, at the place where the agent
 * put its token.
 */
export function composeProviderHeaders(
  from: IncomingHttpHeaders,
  upstream: Upstream,
  header: Credential["header"],
): OutgoingHttpHeaders {
  const headers = selectHeaders(
    from,
    (name) =>
      !droppedHeaders.includes(name) && !droppedPrefixes.some((start) => name.startsWith(start)),
  );
  // So that the figures can be read; nothing between here and there is slow enough to need
  // compression.
  headers["accept-encoding"] = "identity";
  // A login token of Anthropic's isn't a key, and is refused where a key is meant.
  const isBearer = header === "authorization" || upstream.key.startsWith("sk-ant-oat");
  if (isBearer) headers["authorization"] = `Bearer ${upstream.key}`;
  else headers[header] = upstream.key;

  return headers;
}

/** The provider's headers as the agent gets them; none with the key in it. */
export function selectAgentHeaders(from: IncomingHttpHeaders, key: string): OutgoingHttpHeaders {
  return selectHeaders(
    from,
    (name, value) => returnedHeaders.test(name) && (key === "" || !value.includes(key)),
  );
}

/** For requests and answers of other hosts, which are forwarded as they are. */
export function selectProxiedHeaders(from: IncomingHttpHeaders): OutgoingHttpHeaders {
  return selectHeaders(from, (name) => !droppedPrefixes.some((start) => name.startsWith(start)));
}

/** The headers that are to be kept, without those that concern one connection only. */
function selectHeaders(
  from: IncomingHttpHeaders,
  isKept: (name: string, value: string) => boolean,
): OutgoingHttpHeaders {
  const connectionHeaders = new Set((from.connection ?? "").toLowerCase().split(/\s*,\s*/));
  const headers: OutgoingHttpHeaders = {};

  for (const [name, value] of Object.entries(from)) {
    if (value === undefined || hopByHop.includes(name) || connectionHeaders.has(name)) continue;
    if (isKept(name, String(value))) headers[name] = value;
  }

  return headers;
}
