// meter: port to the meter: an account per turn that counts and cuts model calls and holds the real
// key.

import type { ModelApi } from "../contracts/model-api.ts";
import type { Allowance, ReportedUsage } from "./agent.ts";

/**
 * One provider that a turn may reach: its address, and the real key, which the agent never sees.
 */
export type Upstream = { readonly api: ModelApi; readonly base: string; readonly key: string };

/** One call to a model, as the meter saw it. */
export type ModelCall = {
  readonly api: ModelApi;
  readonly model: string;
  /** The provider's HTTP status; null if it gave none. */
  readonly status: number | null;
  /**
   * `whole`: answered to its end. `cut`: ended by the meter. `broken`: ended by the provider or the
   * agent. `refused`: never sent on.
   */
  readonly ended: "whole" | "cut" | "broken" | "refused";
  readonly error: string | null;
  /** When the provider says it will answer again, ISO 8601 in UTC. */
  readonly retryAt: string | null;
};

/** What a tool of the runner returns to the agent that called it. */
export type ToolAnswer = { readonly ok: boolean; readonly text: string };

export type AccountRequest = {
  readonly attempt: string;
  readonly upstreams: readonly Upstream[];
  /** Further hosts that may be reached, by name; `*.example.com` covers its subdomains. */
  readonly hosts: readonly string[];
  readonly left: () => Allowance;
  readonly isUnpaid: () => boolean;
  /**
   * The budget is used up, or a price that a limit needs is unknown: called once, when the stream
   * is cut or the call refused.
   */
  readonly onCut: (sentence: string) => void;
  /** A sign of life: the provider sends. */
  readonly onLife: () => void;
  /** The agent calls a tool of the runner. */
  readonly onTool: (name: string, value: unknown) => Promise<ToolAnswer>;
};

/** One turn's account at the meter. */
export type Account = {
  /** Replaces the real key; valid here, for this turn, and nowhere else. */
  readonly token: string;
  /** The meter's address as the agent sees it, `http://127.0.0.1:PORT`, no slash at its end. */
  readonly address: string;
  /** Where the agent sends calls in this language. */
  readonly urlOf: (api: ModelApi) => string;
  /** For HTTP_PROXY and HTTPS_PROXY. */
  readonly proxyUrl: string;
  /**
   * Where the runner's own tools are called: POST, `Authorization: Bearer <token>`, `{ "tool":
   * NAME, "arguments": … }`.
   */
  readonly toolsUrl: string;
  /** By the provider's own figures; null before the first call. */
  readonly used: () => ReportedUsage;
  readonly calls: () => readonly ModelCall[];
  /** `host:port` of the first hosts that the agent tried to reach and may not. */
  readonly refusedHosts: () => readonly string[];
  /**
   * Ends every stream of this turn; the token is invalid from now on. What it used stays in the sum
   * until it is paid.
   */
  readonly close: () => void;
};

export interface Meter {
  open(request: AccountRequest): Account;
}
