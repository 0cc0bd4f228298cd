// routes: maps the meter's paths to calls of providers. Only listed calls are forwarded: an unknown
// one may cost uncounted money (batches, background work, uploads).
//
// Invariants:
//   R1. A path is forwarded only if all of it matches a row; nothing the agent wrote chooses the
//       host or leaves the base.

import type { ModelApi } from "../contracts/model-api.ts";
import type { Upstream } from "../ports/meter.ts";

export type Route = {
  readonly api: ModelApi;
  /** `model`: counted and charged. `free`: the provider charges nothing for it. */
  readonly kind: "model" | "free";
  readonly method: "GET" | "POST";
  /** Below the provider's base. */
  readonly path: string;
  /** Named in the path; null if the request names it. */
  readonly model: string | null;
};

/** Where the meter offers each API. */
export const prefixes: Readonly<Record<ModelApi, string>> = {
  anthropic: "/anthropic",
  "openai-responses": "/openai/v1",
  "openai-chat": "/openai/v1",
  gemini: "/gemini",
};

type RouteRow = {
  readonly api: ModelApi;
  readonly kind: Route["kind"];
  readonly method: Route["method"];
  readonly path: RegExp;
};
/** A model's name in a path: `claude-opus-5`, `gemini-3-pro@001`. */
const namePattern = "[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}";
const rows: readonly RouteRow[] = [
  { api: "anthropic", kind: "model", method: "POST", path: /^\/v1\/messages$/ },
  { api: "anthropic", kind: "free", method: "POST", path: /^\/v1\/messages\/count_tokens$/ },
  {
    api: "anthropic",
    kind: "free",
    method: "GET",
    path: new RegExp(`^/v1/models(?:/${namePattern})?$`),
  },
  { api: "openai-responses", kind: "model", method: "POST", path: /^\/responses(?:\/compact)?$/ },
  { api: "openai-responses", kind: "free", method: "POST", path: /^\/responses\/input_tokens$/ },
  { api: "openai-chat", kind: "model", method: "POST", path: /^\/chat\/completions$/ },
  { api: "openai-chat", kind: "model", method: "POST", path: /^\/embeddings$/ },
  {
    api: "openai-chat",
    kind: "free",
    method: "GET",
    path: new RegExp(`^/models(?:/${namePattern}(?:/${namePattern})?)?$`),
  },
  {
    api: "openai-responses",
    kind: "free",
    method: "GET",
    path: new RegExp(`^/models(?:/${namePattern}(?:/${namePattern})?)?$`),
  },
  {
    api: "gemini",
    kind: "model",
    method: "POST",
    path: new RegExp(`^/v1(?:beta|alpha)?/models/(${namePattern}):(?:g|streamG)enerateContent$`),
  },
  {
    api: "gemini",
    kind: "free",
    method: "POST",
    path: new RegExp(`^/v1(?:beta|alpha)?/models/(${namePattern}):countTokens$`),
  },
  {
    api: "gemini",
    kind: "free",
    method: "GET",
    path: new RegExp(`^/v1(?:beta|alpha)?/models(?:/${namePattern})?$`),
  },
];

/** `/openai` without `/v1` is what some agents make of it. */
const apiPrefixes: readonly { readonly prefix: RegExp; readonly apis: readonly ModelApi[] }[] = [
  { prefix: /^\/anthropic(?=\/|$)/, apis: ["anthropic"] },
  { prefix: /^\/openai(?:\/v1)?(?=\/|$)/, apis: ["openai-responses", "openai-chat"] },
  { prefix: /^\/gemini(?=\/|$)/, apis: ["gemini"] },
];

/**
 * The APIs that a path could mean, however wrong the rest of it is: so that the refusal is in the
 * right format.
 */
export function findApis(path: string): readonly ModelApi[] {
  return apiPrefixes.find(({ prefix }) => prefix.test(path))?.apis ?? [];
}

/** The call that a path means, among those of the given providers; null if it is not forwarded. */
export function findRoute(
  method: string | undefined,
  path: string,
  upstreams: readonly Upstream[],
): Route | null {
  const offeredApis = upstreams.map(({ api }) => api);

  for (const { prefix, apis } of apiPrefixes) {
    const start = prefix.exec(path);
    if (start === null) continue;

    const rest = path.slice(start[0].length);
    for (const { api, kind, method: rowMethod, path: pattern } of rows) {
      if (rowMethod !== method || !apis.includes(api) || !offeredApis.includes(api)) continue;

      const match = pattern.exec(rest); // R1
      if (match !== null) return { api, kind, method, path: rest, model: match[1] ?? null };
    }
  }

  return null;
}

/**
 * The whole URL at the provider. Some put the version into the base and some do not: it is included
 * once.
 */
export function buildUrl(base: string, path: string, query: string): URL {
  const url = new URL(base);
  const basePath = url.pathname.replace(/\/+$/, "");
  const [version = ""] = /\/v1(?:beta|alpha)?$/.exec(basePath) ?? [];
  const isVersionTwice = version !== "" && path.startsWith(`${version}/`);
  const rest = isVersionTwice ? path.slice(version.length) : path;
  url.pathname = `${basePath}${rest}`;
  url.search = query;
  url.hash = "";
  url.username = "";
  url.password = "";

  return url; // R1
}

/** The query string without API keys. */
export function removeKeysFromQuery(search: string): string {
  const parts = new URLSearchParams(search);
  for (const secret of ["key", "api_key", "apikey", "access_token"]) parts.delete(secret);
  return parts.toString();
}
