// unmet-needs: finds what a check needed and did not have here (packages, the network), so that it
// could not judge anything. Pure.

import type { CheckStatus, TestTally } from "../../contracts/evidence.ts";
import { readLastLines, type Output } from "../bounded-output.ts";
import { findMissingPackages, describeMissingPackages } from "./missing-packages.ts";
import { findUnreachableHosts, describeUnreachableHosts } from "./unreachable-hosts.ts";

type CheckEnd = {
  readonly failing: readonly string[];
  readonly tests: TestTally | null;
  readonly result: { readonly output: Output };
};

const linesMax = 200;
const bytesMax = 32_768;

/**
 * Null if nothing is known to be missing. A check that ran tests did judge, though it could not
 * reach a host; a missing package counts.
 */
export function findUnmetNeeds(
  status: CheckStatus,
  { failing, tests, result }: CheckEnd,
  read: (path: string) => string | null,
): { readonly names: string; readonly why: string } | null {
  if (status === "passed") return null;
  const lastLines = readLastLines(result.output, linesMax, bytesMax).split("\n");
  const packages = findMissingPackages([...failing, ...lastLines], read); // failing lines name tests, and not always the reason
  if (packages.length > 0) {
    return {
      names: packages.map(({ name }) => name).join(", "),
      why: describeMissingPackages(packages),
    };
  }

  const hosts =
    status === "failed" && (tests?.ran ?? 0) === 0 ? findUnreachableHosts(lastLines) : [];
  return hosts.length === 0
    ? null
    : { names: hosts.join(", "), why: describeUnreachableHosts(hosts) };
}
