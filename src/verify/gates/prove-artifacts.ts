// prove-artifacts: judges artifact rules on a commit's tree, round by round: the facts that a rule needs are looked up, then it is judged
// again.
//
// Invariants:
//   A1. A gate's command runs with the base's protected files, as a check does: the agent may not change what judges it.
//   A2. A file that satisfies a gate without real content is reported and decides nothing: the gate is what its author wrote.
//   A3. Only what the run itself changed is measured: earlier content is not its claim.
//   A4. A document fails if it names a file position, a commit, a log or a project command that does not exist and did not exist before the
//       work.
// Invariants V1 and on: verify/verifier.ts.

import { createHash } from "node:crypto";
import type { Check, CheckResult } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { PlaceholderFile, ProofFailure, ProofResult, Verifier } from "../../ports/verifier.ts";
import { citedIn, commitsIn, missingAmong, missingLogs } from "./citations.ts";
import type { FilePair, GateFacts } from "./gate-facts.ts";
import { type GateRequirement, judgeGates } from "./gates.ts";
import { type CommandTree, missingCommands, scriptsIn, targetsIn } from "./named-commands.ts";
import { placeholderReason, promptLines } from "./placeholder.ts";
import type { OpenParts } from "../parts.ts";
import { openMatcher } from "./pattern.ts";
import { runChecks } from "../run-checks.ts";
import { type Listing, listTree, textReader } from "./tree-facts.ts";

type ProveRequest = Parameters<Verifier["prove"]>[0];

const ordersMax = 500;
const measuredMax = 500;

const cancelled = (checks: readonly CheckResult[]): ProofResult => ({
  holds: false,
  failures: [{ rule: "gate", file: null, found: "called off", expected: "judged" }],
  checks,
});

export async function prove(parts: OpenParts, order: ProveRequest): Promise<ProofResult> {
  if (order.cancel.aborted) return cancelled([]);
  const folder = await parts.workspace.checkout(order.commit, "proof"); // V4
  try {
    return await judged(parts, order, await listTree(parts.workspace.foldersOf(folder)));
  } finally {
    await parts.workspace.dropCheckout(folder);
  }
}

async function judged(parts: OpenParts, order: ProveRequest, listing: Listing): Promise<ProofResult> {
  const checks: CheckResult[] = [];
  const commands = new Map<string, { readonly passed: boolean; readonly found: string }>();
  const orders = new Map<string, boolean | null>();
  const facts: GateFacts = {
    files: listing.entries,
    isWhole: listing.isWhole,
    read: textReader(listing),
    match: openMatcher(),
    changed: new Set(order.changed),
    newer: (path, than) => orders.get(keyOf([path, than])),
    command: (command) => commands.get(command),
  };
  // Each round looks up everything that was missing, and the rules name finitely many facts, so this ends.
  for (;;) {
    const { holds, failures, wanted, held } = judgeGates(order.gates, facts);
    if (wanted.commands.length === 0 && wanted.orders.length === 0) {
      const wrong = holds ? await wronglyCited(parts, order, held, facts) : [];
      if (wrong.length > 0) return { holds: false, failures: wrong, checks };
      return { holds, failures, checks, ...(holds ? await measured(parts, order, held, facts) : {}) };
    }
    for (const pair of wanted.orders) orders.set(keyOf(pair), orders.size < ordersMax ? await isNewer(parts, order.commit, pair) : null);
    for (const command of wanted.commands) {
      const results = await runChecks(parts, { ...order, checks: [proofCheck(command)] }); // A1
      checks.push(...results);
      const result = results.find(({ check: { kind } }) => kind === "proof");
      if (result === undefined || order.cancel.aborted) return cancelled(checks);
      commands.set(command, { passed: result.status === "passed", found: foundOf(result, order) });
    }
  }
}

/** Documents among the accepted files with dangling references (A3, A4). */
async function wronglyCited(
  { workspace }: OpenParts,
  { attempt, base, commit, changed }: ProveRequest,
  held: ReadonlyMap<string, GateRequirement>,
  { files, isWhole, read }: GateFacts,
): Promise<readonly ProofFailure[]> {
  const documents = [...held.keys()].filter((path) => /\.(?:md|markdown|rst|adoc|txt)$/i.test(path));
  if (documents.length === 0 || !isWhole) return [];
  const ours = new Set(base === undefined ? changed : (await workspace.differences(base, commit)).map(({ path }) => path));
  const failures: ProofFailure[] = [];
  const written = documents.filter((path) => ours.has(path)).slice(0, measuredMax);
  const commands = written.length === 0 ? null : await commandsOf(workspace, base, files, read);
  for (const file of written) {
    const text = read(file);
    const prose = text === null || text.fault !== undefined ? "" : text.text;
    const cited = citedIn(prose);
    const before = new Map<string, number | null>();
    for (const path of new Set(cited.map((one) => one.path.replace(/^\.\//, "")))) before.set(path, await linesAt(workspace, base, path));
    const now = (path: string): number | null => {
      const found = files.has(path) ? read(path) : null;
      return found === null || found.fault !== undefined ? null : linesOf(found.text);
    };
    const linesIn = (path: string): number | null => {
      const [is, was] = [now(path), before.get(path) ?? null];
      return is === null || was === null ? (is ?? was) : Math.max(is, was);
    };
    const paths = new Set(files.keys());
    const unknown: string[] = [];
    for (const name of commitsIn(prose)) if (!(await workspace.hasCommit(attempt, name))) unknown.push(`commit ${name}`);
    const unmade = commands === null ? [] : missingCommands(prose, commands);
    const missing = [...missingAmong(cited, { paths, linesIn }), ...missingLogs(file, prose, paths), ...unknown, ...unmade];
    if (missing.length > 0) {
      const more = missing.length > citedShownMax ? ` and ${missing.length - citedShownMax} more` : "";
      const found = `names what is not there (${missing.slice(0, citedShownMax).join(", ")}${more})`;
      failures.push({ rule: "citations", file, found, expected: "places, commits, logs and commands that exist" });
    }
  }
  return failures;
}

const manifestsMax = 50;
/** The project's own commands, now and before the work. */
async function commandsOf(
  workspace: OpenParts["workspace"],
  base: GitSha | undefined,
  files: GateFacts["files"],
  read: GateFacts["read"],
): Promise<CommandTree> {
  const was = async (path: string): Promise<string> =>
    (base === undefined ? null : await workspace.textAt(base, path, citedBytesMax)) ?? "";
  const is = (path: string): string | null => {
    const found = files.has(path) ? read(path) : null;
    return found === null || found.fault !== undefined ? null : found.text;
  };
  const manifests = [...files.keys()].filter((path) => /(?:^|\/)package\.json$/.test(path));
  const scripts = manifests.slice(0, manifestsMax).map((path) => scriptsIn(is(path) ?? ""));
  const makefile = ["GNUmakefile", "makefile", "Makefile"].find((path) => files.has(path));
  const targets = makefile === undefined ? null : targetsIn(is(makefile) ?? "include unread");
  const before = {
    scripts: scriptsIn(await was("package.json")) ?? [],
    targets: targetsIn(makefile === undefined ? "" : await was(makefile)) ?? [],
  };
  return {
    paths: new Set(files.keys()),
    scripts:
      scripts.length === 0 || manifests.length > manifestsMax || scripts.includes(null)
        ? null
        : new Set([...scripts.flatMap((names) => names ?? []), ...before.scripts]),
    targets: targets === null ? null : new Set([...targets, ...before.targets]),
  };
}

const citedShownMax = 10;
const citedBytesMax = 512 * 1024;
const linesOf = (text: string): number => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

async function linesAt(workspace: OpenParts["workspace"], base: GitSha | undefined, path: string): Promise<number | null> {
  const text = base === undefined ? null : await workspace.textAt(base, path, citedBytesMax);
  return text === null ? null : linesOf(text);
}

/** Which of the accepted files have real content (A2, A3). */
async function measured(
  { workspace }: OpenParts,
  { base, commit, changed, prompt }: ProveRequest,
  held: ReadonlyMap<string, GateRequirement>,
  { files, read }: GateFacts,
): Promise<Pick<ProofResult, "hollow" | "solid">> {
  if (held.size === 0) return {};
  const ours = new Set(base === undefined ? changed : (await workspace.differences(base, commit)).map(({ path }) => path));
  const echoed = prompt === undefined ? {} : { promptLines: promptLines(prompt) };
  const hollow: PlaceholderFile[] = [];
  const solid: string[] = [];
  for (const [file, { asksContent, minLines }] of [...held].filter(([path]) => ours.has(path)).slice(0, measuredMax)) {
    // A gate that only asks for a file's existence may mean a marker, which is empty.
    const text = files.get(file)?.size === 0 && !asksContent ? null : read(file);
    if (text === null || text.fault !== undefined) continue;
    const why = placeholderReason(text.text, { path: file, minLines, ...echoed });
    if (why === null) solid.push(file);
    else hollow.push({ file, why });
  }
  return { hollow, solid };
}

function keyOf(pair: FilePair): string {
  return JSON.stringify(pair);
}

async function isNewer({ isLater }: OpenParts, commit: GitSha, [path, than]: FilePair): Promise<boolean | null> {
  return isLater === undefined ? null : isLater(commit, path, than);
}

function proofCheck(command: string): Check {
  const id = `proof:${createHash("sha256").update(command).digest("hex").slice(0, 12)}`;
  return { id, kind: "proof", title: command, command, source: "the flow's proof" };
}

const protectedShownMax = 3;

function foundOf({ status, exit_code }: CheckResult, { oracles }: ProveRequest): string {
  const end = exit_code === null ? status : `${status} (exit ${exit_code})`;
  const paths = (oracles?.changes ?? []).map(({ path }) => path);
  if (paths.length === 0) return end;
  const more = paths.length > protectedShownMax ? ` and ${paths.length - protectedShownMax} more` : "";
  return `${end} with the base's ${paths.slice(0, protectedShownMax).join(", ")}${more}`;
}
