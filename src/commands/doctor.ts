// doctor: checks the machine and the project, and says how to fix what is missing; changes nothing.

import { onlyDetects } from "../contracts/isolation-levels.ts";
import { spawnSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { agentProfiles } from "../agents/profiles/shipped-profiles.ts";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { ReasonCode } from "../contracts/reason.ts";
import type { Config } from "../contracts/config.ts";
import { detectChecks } from "../verify/detect/detect.ts";
import { openRepository } from "../workspace/git/repository.ts";
import {
  type AgentAvailability,
  listAvailability,
  isUsable,
} from "../runner/draft/agent-availability.ts";
import { loadTree } from "../runner/draft/collect-checks.ts";
import { findCodeCacheFolder, whyNoCache } from "../project/code-cache-folder.ts";
import {
  findProject,
  type ProjectPaths,
  isFolderBlocked,
  listRuns,
} from "../project/runs/project-paths.ts";
import { describeCheckoutKind, inspectEveryIsolation } from "../runner/inspect-isolation.ts";
import { findMissingTools } from "../runner/draft/missing-tools.ts";
import type { CommandContext } from "../project/command-context.ts";
import { product } from "../project/runs/product.ts";
import { getRedaction } from "../project/secrets/context-redaction.ts";
import { readSettings } from "../project/config/settings.ts";
import { catchRefusals, respond, screenRows } from "../project/respond.ts";

/** Findings without which no run can begin. */
const blockingNames: ReadonlySet<string> = new Set([
  "node",
  "git",
  "repository",
  "config",
  "folder",
  "disk",
]);

/** The reason code of doctor's response, by the names of what is missing; the worst counts. */
export function doctorCode(missing: readonly string[]): ReasonCode {
  if (missing.length === 0) return "ok";
  if (missing.some((name) => blockingNames.has(name))) return "workspace_unusable";
  return missing.includes("agents") ? "agent_unavailable" : "tools_missing";
}

/** `found` is shown beside the name; `isNote`: worth knowing, neither good nor missing. */
type Finding = {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  readonly fix: string;
  readonly isNote?: true;
};

function findingLines({ name, ok, found, fix, isNote }: Finding): readonly string[] {
  const okMark = ok ? "✓" : "✗";
  const mark = isNote === true ? "·" : okMark;
  const line = `${mark} ${name}: ${found}`;
  return ok || fix === "" ? [line] : [line, `    ${fix}`];
}

/** Checks the machine and the folder, and says how to fix what is missing. Changes nothing. */
export function doctor(context: CommandContext, _input: object): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const availability = await listAvailability(context, readConfigOrEmpty(context));
    const paths = findProject(context.cwd);
    const findings = await collectFindings(context, paths, availability);
    const failed = findings.filter(({ ok }) => !ok);
    const failedNames = failed.map(({ name }) => name);
    const runs = paths === null ? 0 : listRuns(paths).length;

    const agents = availability.map((agent) => ({
      name: agent.name,
      is_usable: isUsable(agent),
      version: agent.version,
      missing: agent.problem,
      fix: agent.fix,
    }));

    return respond(doctorCode(failedNames), {
      result: failed.length > 0 ? "FAIL" : "PASS",
      message: describeFailed(failedNames),
      page: renderPage(findings, availability, runs),
      rowsMax: screenRows,
      remediation: [...new Set(failed.map(({ fix }) => fix))],
      data: {
        product,
        findings: findings.map(({ name, ok, found, fix }) => ({ name, ok, found, fix })),
        agents,
        runs,
      },
    });
  });
}

async function collectFindings(
  context: CommandContext,
  paths: ProjectPaths | null,
  availability: readonly AgentAvailability[],
): Promise<readonly Finding[]> {
  const repositoryLookup = await openRepository(context.cwd);

  return [
    checkNode(),
    checkGit(),
    checkRepository(repositoryLookup),
    checkConfig(context),
    ...checkFolder(paths),
    ...checkDisk(paths?.root ?? context.cwd),
    ...checkCodeCache(context),
    ...(await checkIsolation()),
    ...checkSecrets(context, paths?.root ?? null),
    ...(await checkProjectChecks(context, repositoryLookup)),
    checkAgents(availability),
  ];
}

function describeFailed(names: readonly string[]): string {
  if (names.length === 0) return "Ready.";
  const things = names.length === 1 ? "thing is" : "things are";
  return `${names.length} ${things} missing: ${names.join(", ")}.`;
}

function renderPage(
  findings: readonly Finding[],
  availability: readonly AgentAvailability[],
  runs: number,
): readonly string[] {
  const installable = availability.filter(isInstallable);

  return [
    `${product} on ${process.platform}/${process.arch}`,
    "",
    ...findings.flatMap(findingLines),
    "",
    "Agents",
    ...installable.flatMap(agentLines),
    "",
    `${runs} ${runs === 1 ? "run" : "runs"} here.`,
  ];
}

/** The embedded agent comes with the program. */
const isInstallable = ({ profile }: AgentAvailability): boolean => profile.found !== "embedded";

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return {
    name: "node",
    ok: major > 20 || (major === 20 && minor >= 19),
    found: process.versions.node,
    fix: "install Node.js 20.19 or newer",
  };
}

const versionTimeoutMs = 10_000;

function checkGit(): Finding {
  const { stdout, status } = spawnSync("git", ["--version"], {
    encoding: "utf8",
    timeout: versionTimeoutMs,
  });

  return {
    name: "git",
    ok: status === 0,
    found: status === 0 ? stdout.trim() : "not found",
    fix: "install git",
  };
}

type RepositoryLookup = Awaited<ReturnType<typeof openRepository>>;

function checkRepository(lookup: RepositoryLookup): Finding {
  if ("failure" in lookup) {
    return {
      name: "repository",
      ok: false,
      found: lookup.failure.detail,
      fix: lookup.failure.hint ?? "git init && git add -A && git commit --allow-empty -m start",
    };
  }

  const { root, branch, isDirty } = lookup.repository;
  const dirtyText = isDirty ? ", with uncommitted changes (they are not part of a run)" : "";
  const found = `${root}, ${branch ?? "detached HEAD"}${dirtyText}`;
  return { name: "repository", ok: true, found, fix: "" };
}

/** The project's own checks, and what they need that isn't installed. */
async function checkProjectChecks(
  context: CommandContext,
  lookup: RepositoryLookup,
): Promise<readonly Finding[]> {
  if ("failure" in lookup) return [];
  const settings = readSettings(context, lookup.repository.root);
  if (settings.kind !== "settings") return [];
  const { config } = settings;
  const { root, head } = lookup.repository;
  const tree = await loadTree(root, head.commit);
  const { checks } = detectChecks(tree, config.checks);
  const commands = checks.map(({ command }) => command);
  const isRestored = (config.checks?.restore ?? "copy") !== "copy";
  const missing = await findMissingTools(commands, { root, tree, env: context.env, isRestored });

  const missingFindings = missing.map(({ name, needed_by, install }) => ({
    name,
    ok: false,
    found: `missing, and ${needed_by.join(", ")} needs it`,
    fix: install,
  }));
  return [describeChecks(commands), ...missingFindings];
}

function describeChecks(commands: readonly string[]): Finding {
  const finding = { name: "checks", ok: true, fix: "" };
  if (commands.length > 0) return { ...finding, found: commands.join(", ") };

  return {
    ...finding,
    found:
      "none found; add checks.commands to .autopilot/config.yaml, or a command to each criterion",
    isNote: true,
  };
}

function checkFolder(paths: ProjectPaths | null): readonly Finding[] {
  if (paths === null || !isFolderBlocked(paths)) return [];
  return [
    {
      name: "folder",
      ok: false,
      found: `${paths.folder} is no folder, and runs are kept in one`,
      fix: "move it out of the way",
    },
  ];
}

const freeBytesMin = 200 * 1024 ** 2;

function checkDisk(root: string): readonly Finding[] {
  try {
    const { bavail, bsize } = statfsSync(root);
    const freeBytes = bavail * bsize;
    const found = `${(freeBytes / 1024 ** 3).toFixed(1)} GB free`;

    return [{ name: "disk", ok: freeBytes >= freeBytesMin, found, fix: "free a few hundred MB" }];
  } catch {
    return []; // a file system that does not report it
  }
}

/**
 * A note only if the code cache is unused though the user has not switched it off: every start is
 * slower then.
 */
export function checkCodeCache({ env }: Pick<CommandContext, "env">): readonly Finding[] {
  const folder = findCodeCacheFolder(env);
  const problem = folder === null ? null : whyNoCache(folder);
  if (problem === null) return [];

  return [
    {
      name: "code cache",
      ok: true,
      isNote: true,
      found: `not used, so starts are slower: ${problem}`,
      fix: "",
    },
  ];
}

function checkConfig(context: CommandContext): Finding {
  const settings = readSettings(context, findProject(context.cwd)?.root ?? context.cwd);
  if (settings.kind === "settings") {
    const found = settings.files.length > 0 ? settings.files.join(", ") : "defaults";
    return { name: "config", ok: true, found, fix: "" };
  }

  const problems = settings.findings.map(
    ({ file, line, message }) => `${file}:${line}: ${message}`,
  );
  return { name: "config", ok: false, found: problems.join("; "), fix: "fix the named line" };
}

/**
 * An unavailable level counts as missing only if no other level isolates an agent; otherwise it is
 * a note.
 */
async function checkIsolation(): Promise<Finding[]> {
  const inspected = await inspectEveryIsolation();
  const usableLevels = inspected.filter(({ isUsable: isLevelUsable }) => isLevelUsable);
  const hasIsolation = usableLevels.some(({ level }) => !onlyDetects(level));
  const strongest = usableLevels[0]?.level ?? "clone";
  const findings: Finding[] = [];

  for (const { level, isUsable: isLevelUsable, found, fix } of inspected) {
    const name = `isolation ${level}`;
    if (!hasIsolation) {
      const otherFix = `${fix}; or --isolation clone (discards bad changes, blocks nothing)`;
      findings.push({ name, ok: isLevelUsable, found, fix: otherFix });
    } else if (isLevelUsable) {
      findings.push({ name, ok: true, found, fix: "" });
    } else {
      const notAvailable = `not available here (${found})`;
      findings.push({ name, ok: true, found: notAvailable, fix: "", isNote: true });
    }
  }

  findings.push({
    name: "folders",
    ok: true,
    found: await describeCheckoutKind(strongest),
    fix: "",
  });
  return findings;
}

/**
 * Names the variables that look like secrets but aren't redacted, because their values can't be
 * told from ordinary text.
 */
function checkSecrets(context: CommandContext, root: string | null): readonly Finding[] {
  const unredactedNames = getRedaction(context, root).weakSecrets();
  if (unredactedNames.length === 0) return [];
  const found = `too short or too plain to be told from ordinary text, so neither redacted nor looked for in changes: ${unredactedNames.join(", ")}`;

  return [{ name: "secrets", ok: true, found, fix: "", isNote: true }];
}

function readConfigOrEmpty(context: CommandContext): Config {
  const settings = readSettings(context, findProject(context.cwd)?.root ?? context.cwd);
  return settings.kind === "settings" ? settings.config : {};
}

/** One usable agent is enough; missing ones are listed below, with how to install them. */
function checkAgents(availability: readonly AgentAvailability[]): Finding {
  const installable = availability.filter(isInstallable);
  const usable = installable.filter(isUsable);
  const fixable = installable.find(({ state, fix }) => state !== "missing" && fix !== null);
  const fix =
    fixable === undefined
      ? agentProfiles.claude.hints.install
      : `${fixable.name}: ${fixable.fix ?? ""}`;

  const found =
    usable.length > 0
      ? usable.map(nameAndVersion).join(", ")
      : "no coding agent can be used yet; the embedded one is here, and plays scripts (autopilot demo, --agent scripted:FILE)";
  return { name: "agents", ok: usable.length > 0, found, fix };
}

function agentLines(agent: AgentAvailability): readonly string[] {
  const { name, state, problem, fix } = agent;
  if (isUsable(agent)) return [`✓ ${nameAndVersion(agent)}`];
  if (state === "missing") return [`· ${name}: not installed${fix === null ? "" : ` (${fix})`}`];

  const line = `! ${name}: ${problem ?? ""}`;
  return fix === null ? [line] : [line, `    ${fix}`];
}

const nameAndVersion = ({ name, version }: AgentAvailability): string =>
  version === null ? name : `${name} ${version}`;
