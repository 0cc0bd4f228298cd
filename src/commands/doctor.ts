// doctor: checks the machine and the project, and says how to fix what is missing; changes nothing.

import { spawnSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { agentProfiles } from "../agents/profiles/table.ts";
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
import {
  onlyDetects,
  describeCheckoutKind,
  inspectEveryIsolation,
} from "../runner/inspect-isolation.ts";
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
  return [
    `${isNote === true ? "·" : okMark} ${name}: ${found}`,
    ...(ok || fix === "" ? [] : [`    ${fix}`]),
  ];
}

/** Checks the machine and the folder, and says how to fix what is missing. Changes nothing. */
export function doctor(context: CommandContext, _input: object): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const availability = await listAvailability(context, readConfigOrEmpty(context));
    const paths = findProject(context.cwd);
    const repositoryLookup = await openRepository(context.cwd);

    const findings: Finding[] = [
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

    const runs = paths === null ? 0 : listRuns(paths).length;
    const failed = findings.filter(({ ok }) => !ok);

    const page = [
      `${product} on ${process.platform}/${process.arch}`,
      "",
      ...findings.flatMap(findingLines),
      "",
      "Agents",
      ...availability.filter(({ profile }) => profile.found !== "embedded").flatMap(agentLines),
      "",
      `${runs} ${runs === 1 ? "run" : "runs"} here.`,
    ];

    const things = failed.length === 1 ? "thing is" : "things are";
    const message =
      failed.length === 0
        ? "Ready."
        : `${failed.length} ${things} missing: ${failed.map(({ name }) => name).join(", ")}.`;

    return respond(doctorCode(failed.map(({ name }) => name)), {
      result: failed.length > 0 ? "FAIL" : "PASS",
      message,
      page,
      rowsMax: screenRows,
      remediation: [...new Set(failed.map(({ fix }) => fix))],
      data: {
        product,
        findings: findings.map(({ name, ok, found, fix }) => ({ name, ok, found, fix })),
        agents: availability.map((agent) => ({
          name: agent.name,
          is_usable: isUsable(agent),
          version: agent.version,
          missing: agent.problem,
          fix: agent.fix,
        })),
        runs,
      },
    });
  });
}

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
  return {
    name: "repository",
    ok: true,
    found: `${root}, ${branch ?? "detached HEAD"}${isDirty ? ", with uncommitted changes (they are not part of a run)" : ""}`,
    fix: "",
  };
}

/** The project's own checks, and what they need that isn't installed. */
async function checkProjectChecks(
  context: CommandContext,
  lookup: RepositoryLookup,
): Promise<readonly Finding[]> {
  if ("failure" in lookup) return [];
  const settings = readSettings(context, lookup.repository.root);
  if (settings.kind !== "settings") return [];
  const { root, head } = lookup.repository;
  const tree = await loadTree(root, head.commit);
  const commands = detectChecks(tree, settings.config.checks).checks.map(({ command }) => command);
  const isRestored = (settings.config.checks?.restore ?? "copy") !== "copy";
  const missing = await findMissingTools(commands, { root, tree, env: context.env, isRestored });
  const none =
    "none found; add checks.commands to .autopilot/config.yaml, or a command to each criterion";

  return [
    {
      name: "checks",
      ok: true,
      found: commands.length === 0 ? none : commands.join(", "),
      fix: "",
      ...(commands.length === 0 ? { isNote: true } : {}),
    },
    ...missing.map(({ name, needed_by, install }) => ({
      name,
      ok: false,
      found: `missing, and ${needed_by.join(", ")} needs it`,
      fix: install,
    })),
  ];
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
    return {
      name: "config",
      ok: true,
      found: settings.files.length > 0 ? settings.files.join(", ") : "defaults",
      fix: "",
    };
  }

  return {
    name: "config",
    ok: false,
    found: settings.findings
      .map(({ file, line, message }) => `${file}:${line}: ${message}`)
      .join("; "),
    fix: "fix the named line",
  };
}

/**
 * An unavailable level counts as missing only if no other level isolates an agent; otherwise it is
 * a note.
 */
async function checkIsolation(): Promise<Finding[]> {
  const inspected = await inspectEveryIsolation();
  const hasIsolation = inspected.some(({ level, isUsable: holds }) => holds && !onlyDetects(level));
  const strongest = inspected.find(({ isUsable: holds }) => holds)?.level ?? "clone";

  return [
    ...inspected.map(({ level, isUsable: holds, found: text, fix }) => ({
      name: `isolation ${level}`,
      ok: holds || hasIsolation,
      found: holds || !hasIsolation ? text : `not available here (${text})`,
      fix: hasIsolation
        ? ""
        : `${fix}; or --isolation clone (discards bad changes, blocks nothing)`,
      ...(holds || !hasIsolation ? {} : { isNote: true as const }),
    })),
    { name: "folders", ok: true, found: await describeCheckoutKind(strongest), fix: "" },
  ];
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
  const installable = availability.filter(({ profile }) => profile.found !== "embedded");
  const usable = installable.filter(isUsable);
  const fixable = installable.find(({ state, fix }) => state !== "missing" && fix !== null);

  return {
    name: "agents",
    ok: usable.length > 0,
    found:
      usable.length > 0
        ? usable
            .map(({ name, version }) => `${name}${version === null ? "" : ` ${version}`}`)
            .join(", ")
        : "no coding agent can be used yet; the embedded one is here, and plays scripts (autopilot demo, --agent scripted:FILE)",
    fix:
      fixable === undefined
        ? agentProfiles.claude.hints.install
        : `${fixable.name}: ${fixable.fix ?? ""}`,
  };
}

function agentLines(agent: AgentAvailability): readonly string[] {
  const { name, state, version, problem, fix } = agent;
  if (isUsable(agent)) return [`✓ ${name}${version === null ? "" : ` ${version}`}`];
  if (state === "missing") return [`· ${name}: not installed${fix === null ? "" : ` (${fix})`}`];

  return [`! ${name}: ${problem ?? ""}`, ...(fix === null ? [] : [`    ${fix}`])];
}
