// preflight: checks before a cycle costs anything what can be known by then (the checkout, the
// benchmarks, their lists of known bugs, the lever, the agent), and keeps what the cycle measures
// with: a copy of each list, and the lever's commit under a ref of the cycle's own. It changes no
// branch and no checkout, and may be done again.

import { listSome } from "../../kit/list-some.ts";
import { existsSync, lstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import type { Config } from "../../contracts/config.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { ensureFolderBelow } from "../../project/own-folder.ts";
import { Refusal } from "../../project/respond.ts";
import { readSettings } from "../../project/config/settings.ts";
import { assignAgents, inferAgent } from "../../runner/draft/assign-agents.ts";
import { loadCheckedFlow } from "../../runner/draft/load-checked-flow.ts";
import { compileOwnedPaths } from "../../workspace/layers/scope-globs.ts";
import { readChangedFiles } from "../../workspace/git/checkout-status.ts";
import { type Bug, parseBugs } from "../cycle/bugs.ts";
import {
  type BenchmarkPlan,
  type CyclePlan,
  cyclesFolder,
  findingsDefault,
  recallTarget,
} from "../cycle/plan.ts";
import type { Cycle } from "../cycle/state.ts";
import { makeLever } from "./lever.ts";
import { configPath } from "./lever-settings.ts";
import { readConfigText } from "./typed-lever.ts";
import type { NewEvent } from "./log-file.ts";
import type { Trees } from "./trees.ts";

/** Why a cycle cannot begin or go on, and what a person can do about it. */
export type Blocker = { readonly problem: string; readonly remedy: string };
/**
 * The commit of the lever, the one below it, and error events about benchmarks that cannot count.
 */
export type PreparedCycle = {
  readonly lever: string;
  readonly base: string;
  readonly excluded: readonly NewEvent[];
};

type PreflightInput = {
  readonly cycle: Cycle;
  readonly plan: CyclePlan;
  readonly trees: Trees;
  readonly folder: string;
};

const bugsBytesMax = 16 << 20;
const pathsShownMax = 5;
const ownedPaths = [`${cyclesFolder}/**`];
/** The name under which the cycle keeps the lever's commit. */
export const leverRef = "lever";

export async function preflight(
  context: CommandContext,
  input: PreflightInput,
): Promise<PreparedCycle | Blocker> {
  const { cycle, plan, trees, folder } = input;
  const { repository } = trees;
  const earlierLever = await trees.findKept(leverRef);

  if (repository.branch === null) {
    return {
      problem: "The checkout is on no branch, so a lever could not be committed.",
      remedy: "git switch to a branch",
    };
  }

  const changed = await readChangedFiles(repository, compileOwnedPaths(ownedPaths));
  if (changed.length > 0) {
    return {
      problem: `The checkout has uncommitted changes: ${listSome(changed, pathsShownMax)}.`,
      remedy: "commit or stash them",
    };
  }

  const leverParent = earlierLever === null ? null : await trees.resolveCommit(`${earlierLever}^`);
  const base = leverParent ?? repository.head.commit;
  const excluded = await checkBenchmarks(input, base);
  if ("problem" in excluded) return excluded;
  if (plan.command === null) {
    const problem = await findAgentProblem(context, repository.root, plan.agent);
    if (problem !== null) return problem;
  }

  if (earlierLever !== null) return { lever: earlierLever, base, excluded };
  const lever = await makeLever({
    trees,
    base,
    lever: plan.lever,
    id: cycle.lever,
    cycle: cycle.name,
    description: plan.description,
    folder,
    env: context.env,
    interrupted: context.interrupted,
    defaultAgent: () => findDefaultAgent(context, repository.root),
  });
  if ("problem" in lever) return lever;
  const obstructingFiles = await findObstructingFiles(trees, base, lever.files);
  if (obstructingFiles.length > 0) {
    return {
      problem: `The lever makes ${listSome(obstructingFiles, pathsShownMax)}, and files that git doesn't track are there already.`,
      remedy: "move them away, or commit them",
    };
  }

  const configText = plan.command === null ? await trees.readFile(lever.commit, configPath) : null;
  if (configText !== null) {
    const config = readConfigText(configText, context.env);
    const problem =
      "problem" in config
        ? {
            problem: `${configPath} is not valid: ${config.problem}`,
            remedy: "give a lever that leaves it valid",
          }
        : await findAgentProblem(context, repository.root, plan.agent, config.config);
    if (problem !== null) return { ...problem, problem: `With the lever: ${problem.problem}` };
  }

  await trees.keepCommit(leverRef, lever.commit);
  return { lever: lever.commit, base, excluded };
}

/**
 * Checks every benchmark and keeps its baseline; returns those that cannot count, each with the
 * reason.
 */
async function checkBenchmarks(
  { cycle, plan, trees, folder }: PreflightInput,
  base: string,
): Promise<readonly NewEvent[] | Blocker> {
  const excluded: NewEvent[] = [];
  for (const benchmark of plan.benchmarks) {
    const problem = await findBenchmarkProblem(trees, base, benchmark);
    if (problem !== null) return problem;
    const baseline = await keepBaseline({ trees, folder, plan }, benchmark);
    if (baseline === null) continue;
    if ("problem" in baseline) return baseline;
    if (
      baseline.bugs.length > 0 ||
      plan.target.metric !== recallTarget ||
      cycle.excluded.has(benchmark.name)
    ) {
      continue;
    }

    excluded.push({
      event: "error",
      message: `${benchmark.name} is n/a: its baseline ${benchmark.baseline ?? ""} names no bug, so recall is undefined; it is not run`,
      recoverable: true,
      benchmark: benchmark.name,
      kind: "excluded",
    });
  }

  return excluded;
}

/**
 * Files that the lever creates and that already exist, untracked: found now, and not after the runs
 * before it are paid.
 */
async function findObstructingFiles(
  trees: Trees,
  base: string,
  files: readonly string[],
): Promise<readonly string[]> {
  const existing = files.filter(
    (path) => lstatSync(join(trees.repository.root, path), { throwIfNoEntry: false }) !== undefined,
  );
  const isNew = await Promise.all(existing.map(async (path) => !(await trees.hasPath(base, path))));
  return existing.filter((_path, index) => isNew[index]);
}

/** Why a benchmark is not where the plan says; null if it is. */
async function findBenchmarkProblem(
  trees: Trees,
  base: string,
  { kind, at, name, commit }: BenchmarkPlan,
): Promise<Blocker | null> {
  if (kind === "folder" && !(await trees.hasPath(base, at))) {
    return existsSync(join(trees.repository.root, at))
      ? {
          problem: `The benchmark ${name} lies in ${at}, which is not committed.`,
          remedy: `git add ${at}, commit it`,
        }
      : {
          problem: `There is no benchmark folder and no commit called ${at}.`,
          remedy: "name a folder of this repository, a folder elsewhere, or a commit",
        };
  }

  if (kind === "ref" && (await trees.resolveCommit(commit ?? at)) === null) {
    return {
      problem: `The benchmark ${name} is at ${at}, which is no commit here any more.`,
      remedy: "fetch it, or name another",
    };
  }

  if (kind === "outside" && statSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return {
      problem: `The benchmark ${name} lies in ${at}, which is no folder any more.`,
      remedy: "put it back, or begin a cycle without it",
    };
  }

  return null;
}

/** Where a benchmark's list of known bugs is kept. */
const baselineFile = (folder: string, name: string): string =>
  join(folder, "baselines", `${name}.md`);

/**
 * Copies the list of known bugs as it is when the cycle begins, so that a lever that edits it
 * changes nothing of what is counted. Null if there is none and none is needed.
 */
async function keepBaseline(
  { trees, folder, plan }: Omit<PreflightInput, "cycle">,
  benchmark: BenchmarkPlan,
): Promise<{ readonly bugs: readonly Bug[] } | Blocker | null> {
  if (benchmark.baseline === null) return null;
  const path = baselineFile(folder, benchmark.name);
  if (!existsSync(path)) {
    const text = await readBaseline(trees, benchmark);
    if (text === null && plan.target.metric !== recallTarget) return null;
    if (text === null) {
      return {
        problem: `The benchmark ${benchmark.name} has no baseline: ${benchmark.baseline} is not there or cannot be read.`,
        remedy: `write the known bugs there, one heading ### BUG-001: … each, or name another with --baseline ${benchmark.name}=FILE`,
      };
    }

    ensureFolderBelow(folder, "baselines");
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  }

  return { bugs: parseBugs(readFileSync(path, "utf8")) };
}

/** The list of known bugs, in a commit (`v1.2:BUGS.md`) or in a file; null if it cannot be read. */
async function readBaseline(
  trees: Trees,
  { kind, baseline, commit, at }: BenchmarkPlan,
): Promise<string | null> {
  if (kind === "ref" && baseline !== null && baseline.startsWith(`${at}:`)) {
    return trees.readFile(commit ?? at, baseline.slice(at.length + 1));
  }

  const path = baseline ?? "";
  return readOwnFile(isAbsolute(path) ? path : resolve(trees.repository.root, path), bugsBytesMax);
}

/** Where a benchmark keeps its known bugs by default. */
export async function findDefaultBaseline(
  trees: Trees,
  { kind, at, commit }: Pick<BenchmarkPlan, "kind" | "at" | "commit">,
): Promise<string> {
  if (kind !== "ref") return join(at, "BUGS.md");
  for (const path of findingsDefault) {
    if ((await trees.readFile(commit ?? at, path)) !== null) return `${at}:${path}`;
  }

  return `${at}:${findingsDefault[0]}`;
}

/** The baseline that was kept; null if there is none. */
export function readKeptBaseline(folder: string, name: string): readonly Bug[] | null {
  const text = readOwnFile(baselineFile(folder, name), bugsBytesMax);
  return text === null ? null : parseBugs(text);
}

/**
 * Whether a quality run would find its agents: asked as the run itself would ask, before anything
 * is paid.
 */
async function findAgentProblem(
  context: CommandContext,
  root: string,
  agent: string | undefined,
  config?: Config,
): Promise<Blocker | null> {
  const settings = readSettings(context, root);
  if (settings.kind === "invalid") {
    return { problem: "The config is not valid.", remedy: "autopilot config" };
  }

  try {
    const { flow } = await loadCheckedFlow(context, "quality");
    const assignment = {
      context: { ...context, isTerminal: false },
      config: config ?? settings.config,
      storeScript: () => Promise.resolve("0".repeat(64)), // nothing is stored: any hash will do
    };
    await assignAgents(assignment, flow, agent);

    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { problem: error.message, remedy: error.response.remediation[0] ?? "autopilot agents" };
  }
}

/** The default agent if no config names one. */
async function findDefaultAgent(context: CommandContext, root: string): Promise<string | null> {
  const settings = readSettings(context, root);
  if (settings.kind === "invalid") return null;
  try {
    const { flow } = await loadCheckedFlow(context, "quality");
    return (
      (await inferAgent({ ...context, isTerminal: false }, settings.config, flow))?.name ?? null
    );
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
