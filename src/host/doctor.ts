import { spawnSync } from "node:child_process";
import type { Answer } from "../contracts/answer.ts";
import { inspectIsolations } from "../workspace/isolation.ts";
import { openRepository } from "../workspace/repository.ts";
import { findHome, listRuns } from "./home.ts";
import type { Place } from "./place.ts";
import { product } from "./product.ts";
import { readSettings } from "./settings.ts";
import { answered, reply } from "./reply.ts";

type Finding = { readonly name: string; readonly ok: boolean; readonly found: string; readonly mend: string };

/** Looks at the machine and the folder, and says how to mend what is missing. Changes nothing. */
export function doctor(place: Place, _input: object): Promise<Answer> {
  return answered(async () => {
    const findings: Finding[] = [node(), git(), await repository(place), config(place), ...(await isolations())];
    const home = findHome(place.cwd);
    const runs = home === null ? 0 : listRuns(home).length;
    const bad = findings.filter(({ ok }) => !ok);
    const page = [
      `${product} on ${process.platform}/${process.arch}`,
      "",
      ...findings.map(({ name, ok, found, mend }) => `${ok ? "✓" : "✗"} ${name}: ${found}${ok || mend === "" ? "" : `\n    ${mend}`}`),
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
      data: { product, findings, runs },
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

async function isolations(): Promise<Finding[]> {
  const found = await inspectIsolations();
  return found.map(({ level, isUsable, found: text }) => ({
    name: `isolation ${level}`,
    ok: isUsable,
    found: text,
    mend: `without it, choose --isolation clone by name (it detects, it does not enforce)`,
  }));
}
