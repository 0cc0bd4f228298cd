// lacks: what a check that did not pass lacks here and therefore could not judge: packages, or the network. Pure.

import type { CheckStatus, TestTally } from "../../contracts/evidence.ts";
import { excerptOf, type Output } from "../output.ts";
import { missingPackages, missingPackageMessage } from "./missing-packages.ts";
import { unreachableHosts, unreachableMessage } from "./unreachable.ts";

type Ended = { readonly failing: readonly string[]; readonly tests: TestTally | null; readonly result: { readonly output: Output } };

const linesMax = 200;
const bytesMax = 32_768;

/** Null if nothing is known to be missing. A check that ran tests did judge, whatever it could not reach. */
export function lacksOf(
  status: CheckStatus,
  { failing, tests, result }: Ended,
  read: (path: string) => string | null,
): { readonly names: string; readonly why: string } | null {
  if (status === "passed") return null;
  const missing = missingPackages(failing, read);
  if (missing.length > 0) return { names: missing.map(({ name }) => name).join(", "), why: missingPackageMessage(missing) };
  const hosts =
    status === "failed" && (tests?.ran ?? 0) === 0 ? unreachableHosts(excerptOf(result.output, linesMax, bytesMax).split("\n")) : [];
  return hosts.length === 0 ? null : { names: hosts.join(", "), why: unreachableMessage(hosts) };
}
