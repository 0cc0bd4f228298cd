// hosts: judges which hosts an agent may reach besides its models.
//
// Invariants:
//   H1. A name is normalised once; exactly what was judged is dialled.
//   H2. An empty list allows nothing.
//   H3. A name that resolves to this machine or its network is allowed only if that very host and
//       port is listed.

import { isIPv4, isIPv6 } from "node:net";
import { isPublicAddress } from "./addresses.ts";

export type Target = { readonly host: string; readonly port: number };
/**
 * `exact`: this host and port is listed by itself, so it may also be on this machine. `by name`:
 * only if it is public.
 */
export type JudgeHost = (target: Target) => "exact" | "by name" | "no";

/** One part of a host's name: `api`, `my-host`. */
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** An entry without a port means these. */
const defaultPorts: readonly number[] = [80, 443];
/** The longest name that DNS has. */
const hostCharsMax = 253;

/** Parses `host`, `host:port` or `[IPv6]:port`; null for anything else: no user, no escapes. */
export function parseAuthority(authority: string, defaultPort: number | null): Target | null {
  const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(authority);
  const host = parseHost(match?.[1] ?? "");
  const port = match?.[2] === undefined ? defaultPort : Number(match[2]);

  return host === null || port === null || port < 1 || port > 65_535 ? null : { host, port }; // H1
}

function parseHost(text: string): string | null {
  if (text.startsWith("[")) {
    const address = text.slice(1, -1).toLowerCase();
    return isIPv6(address) ? address : null;
  }

  const name = text.toLowerCase().replace(/\.$/, "");
  if (isIPv4(name)) return name;
  if (name.length === 0 || name.length > hostCharsMax) return null;
  const labels = name.split(".");
  // A last part that is a number makes it an address in one of the old spellings (127.1, 0x7f.1,
  // 2130706433).
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "")) return null;

  return labels.every((part) => label.test(part)) ? name : null;
}

/**
 * Judges by a list of `host`, `host:port` and `*.host`. An entry that is none of these allows
 * nothing.
 */
export function createHostJudge(list: readonly string[]): JudgeHost {
  const entries = list.flatMap((text) => {
    const isWildcard = text.startsWith("*.");
    const hostText = isWildcard ? text.slice(2) : text;
    const target = parseAuthority(hostText, null) ?? parseTargetWithoutPort(hostText);
    // A star matches names, never addresses, and never a whole top-level domain.
    if (
      target === null ||
      (isWildcard && (!target.host.includes(".") || isIPv4(target.host) || isIPv6(target.host)))
    ) {
      return [];
    }

    return [{ ...target, isWildcard }];
  });

  return ({ host, port }) => {
    let best: "by name" | "no" = "no"; // H2
    for (const entry of entries) {
      const isHost = entry.isWildcard ? host.endsWith(`.${entry.host}`) : host === entry.host;
      const isPort = entry.port === 0 ? defaultPorts.includes(port) : entry.port === port;
      if (!isHost || !isPort) continue;
      if (!entry.isWildcard && entry.port !== 0) return "exact";
      best = "by name";
    }

    return best;
  };
}

/** Port 0 stands for the default ports. */
function parseTargetWithoutPort(text: string): Target | null {
  const host = parseHost(text.includes(":") && !text.startsWith("[") ? `[${text}]` : text);
  return host === null ? null : { host, port: 0 };
}

/** The addresses of a name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** The address to dial, or the message why not. */
export async function resolveAddress(
  target: Target,
  judgeHost: JudgeHost,
  lookup: Lookup,
): Promise<{ address: string } | { refused: string }> {
  const hostAndPort = `${target.host}:${target.port}`;
  const verdict = judgeHost(target);
  if (verdict === "no") {
    return {
      refused: `${hostAndPort} is not among the hosts this agent may reach; "network: { agents: [HOST] }" lists one.`,
    };
  }

  const isLiteral = isIPv4(target.host) || isIPv6(target.host);
  const addresses = isLiteral ? [target.host] : await lookup(target.host).catch(() => []);
  const [first] = addresses;
  if (first === undefined) return { refused: `${target.host} has no address.` };
  if (verdict === "exact" || addresses.every(isPublicAddress)) return { address: first }; // H1, H3

  return {
    refused: `${target.host} leads to this machine or its network; list ${hostAndPort} with its port if that is meant.`,
  };
}
