// find-agents: finds which agents are installed on this machine, their versions, and what prevents
// their use.
//
// Invariants:
//   F1. Only a program that a profile names is ever run, only with the profile's arguments, within
//       bounds of time and output.
//   F2. A relative folder of the PATH is skipped: it would be inside the current repository.
//   F3. Nothing is run in the repository or with the user's HOME.

import {
  closeSync,
  constants,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { isExecutable } from "./process/spawn-agent.ts";
import { runAndCapture } from "./run-and-capture.ts";
import type { AgentProfile, AgentProgram } from "./profiles/profile.ts";
import { agentProfiles } from "./profiles/shipped-profiles.ts";
import { isOlder, findVersion } from "./version.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `missing`: not on the PATH. `unfit`: found, but something must be fixed first. */
export type FoundAgent = {
  readonly profile: AgentProfile;
  readonly state: "installed" | "unfit" | "missing";
  /** Its command line, the program with its folder; empty if it is missing. */
  readonly argv: readonly string[];
  /** The program's real path. */
  readonly realPath: string | null;
  readonly version: string | null;
  /** Why it cannot be used, and what to do; null if it can. */
  readonly problem: string | null;
  readonly fix: string | null;
};

/** Every agent that is searched on the PATH, with what was found of it. */
export async function findAgents(
  env: Environment,
  profiles: readonly AgentProfile[] = Object.values<AgentProfile>(agentProfiles),
): Promise<readonly FoundAgent[]> {
  return Promise.all(
    profiles.filter(({ found }) => found === "path").map((profile) => findAgent(profile, env)),
  );
}

const findings = new Map<string, Promise<FoundAgent>>();

/** Cached per process: a command need not notice programs installed while it runs. */
export function findAgent(profile: AgentProfile, env: Environment): Promise<FoundAgent> {
  const key = `${profile.id}\0${profile.programs.map(({ name }) => name).join("\0")}\0${env["PATH"] ?? ""}`;
  const finding = findings.get(key) ?? searchAgent(profile, env);
  findings.set(key, finding);

  return finding;
}

async function searchAgent(profile: AgentProfile, env: Environment): Promise<FoundAgent> {
  const installed = findProgram(profile, env);
  if (installed === null) {
    const names = profile.programs.map(({ name }) => name).join(" or ");
    const problem = `${names} is not on the PATH`;
    return {
      profile,
      state: "missing",
      argv: [],
      realPath: null,
      version: null,
      problem,
      fix: profile.hints.install,
    };
  }

  const { program, path } = installed;
  const realPath = realpathSync(path);
  const version =
    readNpmPackage(realPath)?.version ??
    (program.version === null ? null : await readVersion(path, program.version, env));

  const unfitness = (await findUnfitness(profile, { program, version, realPath }, env)) ?? {
    problem: null,
    fix: null,
  };
  const state = unfitness.problem === null ? "installed" : "unfit";
  return { profile, state, argv: [path, ...program.words], realPath, version, ...unfitness };
}

/** The first of the agent's programs that is on the PATH and comes from the right package. */
function findProgram(
  { programs }: AgentProfile,
  env: Environment,
): { readonly program: AgentProgram; readonly path: string } | null {
  for (const program of programs) {
    const path = findAllOnPath(program.name, env).find((candidate) =>
      isFromRightPackage(program, candidate),
    );
    if (path !== undefined) return { program, path };
  }

  return null;
}

type InstalledProgram = {
  readonly program: AgentProgram;
  readonly version: string | null;
  readonly realPath: string;
};
type Unfitness = { readonly problem: string; readonly fix: string };

/** Why an installed agent can't be used, and what to do; null if it can. */
async function findUnfitness(
  { minNode, hints }: AgentProfile,
  { program: { requiredPrograms, versionMin }, version, realPath }: InstalledProgram,
  env: Environment,
): Promise<Unfitness | null> {
  const missing = requiredPrograms.filter((name) => findOnPath(name, env) === null);
  if (missing.length > 0) {
    return {
      problem: `it needs ${missing.join(" and ")} on the PATH`,
      fix: hints.install,
    };
  }

  if (versionMin !== null && version !== null && isOlder(version, versionMin)) {
    return {
      problem: `version ${version} is too old: ${versionMin} or newer is needed`,
      fix: hints.install, // npm installs the newest, also over an older one
    };
  }

  if (minNode === null || !isNodeScript(realPath)) return null;
  const node = await readNodeVersion(env);
  if (node === null) {
    return {
      problem: `it is a Node program, and node is not on the PATH`,
      fix: `install Node.js ${minNode} or newer`,
    };
  }

  if (!isOlder(node, minNode)) return null;
  return {
    problem: `it needs Node.js ${minNode} or newer, and node on the PATH is ${node}`,
    fix: `install Node.js ${minNode} or newer`,
  };
}

/** The first program of this name on the PATH that may be run. */
export const findOnPath = (name: string, env: Environment): string | null =>
  findAllOnPath(name, env)[0] ?? null;

function findAllOnPath(name: string, env: Environment): readonly string[] {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder)); // F2
  return folders.map((folder) => join(folder, name)).filter(isExecutable);
}

const isFromRightPackage = ({ onlyPackage, notPackage }: AgentProgram, path: string): boolean => {
  if (onlyPackage === null && notPackage === null) return true;
  const name = readNpmPackage(realpathSync(path))?.name ?? "";
  return (
    (onlyPackage === null || name.startsWith(onlyPackage)) &&
    (notPackage === null || !name.startsWith(notPackage))
  );
};

const packageBytesMax = 256 * 1024;
const foldersUpMax = 6;

/**
 * The npm package that a program is in: its manifest says the version without running the program.
 */
function readNpmPackage(
  realPath: string,
): { readonly name: string; readonly version: string } | null {
  if (!realPath.includes("/node_modules/")) return null;
  let folder = dirname(realPath);
  for (
    let up = 0;
    up < foldersUpMax && !folder.endsWith("/node_modules");
    up += 1, folder = dirname(folder)
  ) {
    const manifest = readJson(join(folder, "package.json"));
    const version =
      typeof manifest?.["version"] === "string" ? findVersion(manifest["version"]) : null;
    if (typeof manifest?.["name"] === "string" && version !== null) {
      return { name: manifest["name"], version };
    }
  }

  return null;
}

function readJson(path: string): Record<string, unknown> | null {
  try {
    if (statSync(path).size > packageBytesMax) return null;
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

async function readVersion(
  path: string,
  args: readonly string[],
  env: Environment,
): Promise<string | null> {
  return findVersion((await runAndCapture({ path, args, env })) ?? ""); // F1, F3
}

async function readNodeVersion(env: Environment): Promise<string | null> {
  const path = findOnPath("node", env);
  if (path === null) return null;
  return realpathSync(path) === realpathSync(process.execPath)
    ? process.versions.node
    : readVersion(path, ["--version"], env);
}

/**
 * Scripts begin with a line that names their interpreter; a compiled program does not depend on
 * Node.
 */
function isNodeScript(path: string): boolean {
  const head = Buffer.alloc(128);
  try {
    const fd = openSync(path, constants.O_RDONLY);
    try {
      return /^#!.*\bnode\b/.test(
        head.toString("latin1", 0, readSync(fd, head, 0, head.length, 0)),
      );
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}
