import { spawnSync } from "node:child_process";
import { agentProfiles } from "../agents/profiles/table.ts";
import type { Answer } from "../contracts/answer.ts";
import type { Config } from "../contracts/config.ts";
import { inspectIsolations } from "../workspace/isolation.ts";
import { openRepository } from "../workspace/repository.ts";
import { type AgentStanding, agentsHere, isUsable } from "./agent-standing.ts";
import { findHome, listRuns } from "./home.ts";
import { detects } from "./isolation-here.ts";
import type { Place } from "./place.ts";
import { product } from "./product.ts";
import { readSettings } from "./settings.ts";
import { answered, reply } from "./reply.ts";

type Finding = { readonly name: string; readonly ok: boolean; readonly found: string; readonly mend: string };

/** Looks at the machine and the folder, and says how to mend what is missing. Changes nothing. */
export function doctor(place: Place, _input: object): Promise<Answer> {
  return answered(async () => {
    const standings = await agentsHere(place, configOf(place));
    const findings: Finding[] = [node(), git(), await repository(place), config(place), ...(await isolations()), agentsFound(standings)];
    const home = findHome(place.cwd);
    const runs = home === null ? 0 : listRuns(home).length;
    const bad = findings.filter(({ ok }) => !ok);
    const page = [
      `${product} on ${process.platform}/${process.arch}`,
      "",
      ...findings.flatMap(({ name, ok, found, mend }) => [
        `${ok ? "✓" : "✗"} ${name}: ${found}`,
        ...(ok || mend === "" ? [] : [`    ${mend}`]),
      ]),
      "",
      "Agents",
      ...standings.filter(({ profile }) => profile.found !== "embedded").flatMap(agentLines),
      "",
      `${runs} ${runs === 1 ? "run" : "runs"} here.`,
    ];
    const message =
      bad.length === 0
        ? "Everything a run needs is here."
        : `${bad.length} ${bad.length === 1 ? "thing is" : "things are"} missing: ${bad.map(({ name }) => name).join(", ")}.`;
    const isBlocked = bad.some(({ name }) => ["node", "git", "repository", "config"].includes(name));
    return reply(isBlocked ? "workspace_unusable" : "ok", {
      result: isBlocked ? "FAIL" : bad.length > 0 ? "WARN" : "PASS",
      message,
      page,
      remediation: bad.map(({ mend }) => mend),
      data: {
        product,
        findings,
        agents: standings.map((one) => ({
          name: one.name,
          is_usable: isUsable(one),
          version: one.version,
          missing: one.problem,
          mend: one.mend,
        })),
        runs,
      },
    });
  });
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return {
    name: "node",
    ok: major > 20 || (major === 20 && minor >= 19),
    found: process.versions.node,
    mend: "install Node.js 20.19 or newer",
  };
}

function git(): Finding {
  const { stdout, status } = spawnSync("git", ["--version"], { encoding: "utf8" });
  return { name: "git", ok: status === 0, found: status === 0 ? stdout.trim() : "not found", mend: "install git" };
}

async function repository(place: Place): Promise<Finding> {
  const opened = await openRepository(place.cwd);
  if ("failure" in opened)
    return { name: "repository", ok: false, found: opened.failure.detail, mend: "git init && git add -A && git commit -m start" };
  const { root, branch, isDirty } = opened.repository;
  return {
    name: "repository",
    ok: true,
    found: `${root}, ${branch ?? "detached HEAD"}${isDirty ? ", with uncommitted changes (they are not part of a run)" : ""}`,
    mend: "",
  };
}

function config(place: Place): Finding {
  const read = readSettings(place, findHome(place.cwd)?.root ?? place.cwd);
  if (read.kind === "settings")
    return { name: "config", ok: true, found: read.files.length > 0 ? read.files.join(", ") : "defaults", mend: "" };
  return {
    name: "config",
    ok: false,
    found: read.findings.map(({ file, line, message }) => `${file}:${line}: ${message}`).join("; "),
    mend: "mend the named line",
  };
}

/** A level that is not to be had is worth a word where no other holds an agent either. */
async function isolations(): Promise<Finding[]> {
  const found = await inspectIsolations();
  const isHeld = found.some(({ level, isUsable: holds }) => holds && !detects(level));
  return found.map(({ level, isUsable: holds, found: text }) => ({
    name: `isolation ${level}`,
    ok: holds || isHeld,
    found: holds || !isHeld ? text : `not to be had here (${text})`,
    mend: `install bubblewrap, or choose --isolation clone by name (it detects, it does not enforce)`,
  }));
}

function configOf(place: Place): Config {
  const read = readSettings(place, findHome(place.cwd)?.root ?? place.cwd);
  return read.kind === "settings" ? read.config : {};
}

/** One that can be used is enough; which are missing is told below, with how to get them. */
function agentsFound(standings: readonly AgentStanding[]): Finding {
  const real = standings.filter(({ profile }) => profile.found !== "embedded");
  const usable = real.filter(isUsable);
  const nearly = real.find(({ state, mend }) => state !== "missing" && mend !== null);
  return {
    name: "agents",
    ok: usable.length > 0,
    found:
      usable.length > 0
        ? usable.map(({ name, version }) => `${name}${version === null ? "" : ` ${version}`}`).join(", ")
        : "none can be used",
    mend: nearly === undefined ? agentProfiles.claude.hints.install : `${nearly.name}: ${nearly.mend ?? ""}`,
  };
}

function agentLines(one: AgentStanding): readonly string[] {
  const { name, state, version, problem, mend } = one;
  if (isUsable(one)) return [`✓ ${name}${version === null ? "" : ` ${version}`}`];
  if (state === "missing") return [`· ${name}: not installed${mend === null ? "" : ` (${mend})`}`];
  return [`! ${name}: ${problem ?? ""}`, ...(mend === null ? [] : [`    ${mend}`])];
}
