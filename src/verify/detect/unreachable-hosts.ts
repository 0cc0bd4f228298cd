// unreachable-hosts: finds hosts that a command could not reach. Checks have no network unless the
// config gives them one, so a command that fetches something first could not run here: that is
// neither a failure nor a false claim. Pure.

import { listSome } from "../../kit/list-some.ts";

const host = String.raw`((?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24})`;
/** How tools report a missing network. The captured name is the host's. */
const messageForms: readonly RegExp[] = [
  new RegExp(String.raw`getaddrinfo (?:EAI_AGAIN|ENOTFOUND) ${host}`, "i"), // node, npm, yarn, pnpm
  new RegExp(
    String.raw`(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH)\b.{0,200}?https?://${host}`,
    "i",
  ),
  new RegExp(
    String.raw`https?://${host}.{0,200}?(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b`,
    "i",
  ),
  new RegExp(String.raw`Could ?n[o']t resolve host(?:name)?:? ['"(]?${host}`, "i"), // curl, git, cargo
  new RegExp(String.raw`dial tcp: lookup ${host}`, "i"), // Go
  new RegExp(
    String.raw`host='?${host}.{0,400}?(?:Temporary failure in name resolution|Name or service not known|Network is unreachable|No address associated)`,
    "i",
  ), // pip, requests
  new RegExp(String.raw`npm (?:ERR!|error) network request to https?://${host}`, "i"),
];

/** The hosts that these lines name, at most one of each line. */
export function findUnreachableHosts(lines: readonly string[]): readonly string[] {
  const hosts = lines.flatMap((line) => findUnreachableHost(line) ?? []);
  return [...new Set(hosts)];
}

function findUnreachableHost(line: string): string | undefined {
  for (const form of messageForms) {
    const name = form.exec(line)?.[1];
    if (name !== undefined) return name;
  }

  return undefined;
}

export const describeUnreachableHosts = (hosts: readonly string[]): string =>
  `it could not run: it asked ${listSome(hosts)} over the network, which checks don't have here; install what it fetches beforehand, or set network.checks in your own config`;
