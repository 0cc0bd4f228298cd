// lever: makes the change under test (the lever) one commit on top of the commit it is tested on,
// before anything is spent and on no branch yet.
//
// Invariants:
//   L1. The user's checkout and branch are not touched here (trees.ts works in a git directory of
//       our own).
//   L2. A lever that changes nothing, or that would have no effect, is refused before a benchmark
//       runs.

import { listSome } from "../../kit/list-some.ts";
import { mkdir, writeFile } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import { git, readGitLine } from "../../workspace/git/git.ts";
import type { GitContext } from "../../workspace/git/safe-git-call.ts";
import { readOwnFile } from "../../project/own-file.ts";
import type { CyclePlan } from "../cycle/plan.ts";
import { endProcess, startProcess, stderrFile, stdoutFile, waitForProcess } from "./process.ts";
import { planTypedEdits } from "./typed-lever.ts";
import type { Trees } from "./trees.ts";
import { erase } from "../../workspace/folder.ts";

export type LeverResult =
  | { readonly commit: string; readonly files: readonly string[] }
  | { readonly problem: string; readonly remedy: string };

export type LeverInput = {
  readonly trees: Trees;
  readonly base: string;
  readonly lever: CyclePlan["lever"];
  /** The lever as the user named it: `prompt:quality/explore`, `limit:max_tokens`. */
  readonly id: string;
  readonly cycle: string;
  readonly description: string;
  /** The cycle's disposable folder. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupted: AbortSignal;
  readonly defaultAgent: () => Promise<string | null>;
};

const patchBytesMax = 32 << 20;
const messageCharsMax = 400;
const logBytesMax = 8 << 20;
const conflictsShownMax = 5;
type TreeResult = { readonly tree: string } | { readonly problem: string; readonly remedy: string };

/** Makes the lever's commit, or says why it cannot be made. */
export async function makeLever(input: LeverInput): Promise<LeverResult> {
  const { trees, base, cycle, id, description } = input;
  const result = await buildTree(input);
  if ("problem" in result) return result;
  if (result.tree === (await trees.resolveTree(base))) {
    return {
      problem: `The lever ${id} changes nothing on ${base.slice(0, 12)}.`,
      remedy: "give a lever that changes a tracked file",
    };
  } // L2

  const message = `calibrate: ${id}\n\n${description}\n\nCalibration-Cycle: ${cycle}\n`;
  const commit = await trees.commit(result.tree, base, message);
  return { commit, files: await trees.listChangedFiles(base, commit) };
}

/** The tree with the lever's change. */
function buildTree(input: LeverInput): Promise<TreeResult> {
  const { kind } = input.lever;
  if (kind === "patch") return buildFromPatch(input);
  if (kind === "commit") return buildFromCommit(input);
  if (kind === "command") return buildFromCommand(input);

  return buildFromEdits(input);
}

async function buildFromPatch({ trees, base, lever, folder }: LeverInput): Promise<TreeResult> {
  const root = trees.repository.root;
  const path = isAbsolute(lever.source) ? lever.source : resolve(root, lever.source);
  const text = readOwnFile(path, patchBytesMax);
  if (text === null) {
    return {
      problem: `There is no patch ${lever.source} that can be read.`,
      remedy: "name a file that git diff wrote",
    };
  }

  await mkdir(folder, { recursive: true, mode: 0o700 });
  const copy = join(folder, "lever.patch");
  await writeFile(copy, text, { mode: 0o600 });
  let refusal = "";

  const tree = await trees.editTree(base, async (call) => {
    const applied = await git({
      ...call,
      args: ["apply", "--cached", "--whitespace=nowarn", "--", copy],
      acceptedExitCodes: [0, 1, 128],
    });
    if (applied.code !== 0) refusal = applied.err.trim() || "git apply refused it";
  });

  if (refusal === "") return { tree };
  const refusalText = refusal.replaceAll(copy, () => lever.source).slice(0, messageCharsMax);
  return {
    problem: `The patch ${lever.source} does not apply to ${base.slice(0, 12)}: ${refusalText}`,
    remedy: "make the patch anew on this commit",
  };
}

async function buildFromCommit({ trees, base, lever }: LeverInput): Promise<TreeResult> {
  const commit = await trees.resolveCommit(lever.source);
  if (commit === null) {
    return {
      problem: `There is no commit ${lever.source} here.`,
      remedy: "name a commit of this repository",
    };
  }

  const parent = await trees.resolveCommit(`${commit}^`);
  if (parent === null) {
    return {
      problem: `${lever.source} has no parent, so it is no change.`,
      remedy: "name a commit that changes something",
    };
  }

  const merged = await trees.mergeTrees(parent, base, commit);
  if ("tree" in merged) return merged;
  const conflicts = listSome(merged.conflicts, conflictsShownMax);

  return {
    problem: `The commit ${lever.source} does not apply to ${base.slice(0, 12)}: ${conflicts}`,
    remedy: "rebase it onto this commit",
  };
}

/** The command works in its own copy: what it does anywhere else isn't a part of the lever. */
async function buildFromCommand({
  trees,
  base,
  lever,
  folder,
  env,
  interrupted,
}: LeverInput): Promise<TreeResult> {
  const copy = join(folder, "lever");
  await trees.makeCopy(copy, base, []);

  try {
    const { code, lastLine } = await runShell(lever.source, {
      cwd: copy,
      folder: join(folder, "lever-command"),
      env,
      interrupted,
    });
    if (code === 0) return { tree: await trees.writeCopyTree(copy) };
    const codeText = code === null ? "a signal" : `code ${code}`;

    return {
      problem: `The lever's command ended with ${codeText}${lastLine === "" ? "" : `: ${lastLine}`}`,
      remedy: "make the command change the files of its folder and end with 0",
    };
  } finally {
    await erase(copy);
  }
}

/** A lever's command that prints nothing for so long is ended. */
const silentCommandMsMax = 15 * 60_000;

/**
 * Runs a command as a benchmark is run: nothing that it starts outlives it, and what a killed
 * runner left of it is ended first.
 */
async function runShell(
  command: string,
  {
    cwd,
    folder,
    env,
    interrupted,
  }: { readonly cwd: string; readonly folder: string } & Pick<LeverInput, "env" | "interrupted">,
): Promise<{ readonly code: number | null; readonly lastLine: string }> {
  await endProcess(folder);
  await erase(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });

  try {
    const child = startProcess({ folder, cwd, command, env });
    const ended = await waitForProcess(folder, [], {
      hangMs: silentCommandMsMax,
      interrupted,
      child,
    });

    const texts = [stdoutFile, stderrFile].map(
      (name) => readOwnFile(join(folder, name), logBytesMax)?.trim() ?? "",
    );
    const text = texts.findLast((candidate) => candidate !== "") ?? "";
    const lastLine = text.split("\n").at(-1) ?? "";

    return {
      code: ended.kind === "exited" ? ended.code : null,
      lastLine: lastLine.slice(-messageCharsMax),
    };
  } finally {
    await erase(folder); // what it printed may hold anything
  }
}

async function buildFromEdits({
  trees,
  base,
  lever,
  id,
  env,
  defaultAgent,
}: LeverInput): Promise<TreeResult> {
  const { root } = trees.repository;
  const edits = await planTypedEdits({
    lever,
    id,
    root,
    env,
    defaultAgent,
    readCommitted: (path) => trees.readFile(base, path),
  }); // L2
  if ("problem" in edits) return edits;
  const tree = await trees.editTree(base, async (call) => {
    for (const { path, text } of edits.files) await putFile(call, path, text);
  });

  return { tree };
}

/** Adds a file to the index as a regular one. The path cannot lead out of the tree. */
async function putFile(call: GitContext, path: string, text: string): Promise<void> {
  const blob = await readGitLine({
    ...call,
    args: ["hash-object", "-w", "--stdin"],
    input: [Buffer.from(text)],
  });

  await git({
    ...call,
    args: [
      "update-index",
      "--add",
      "--cacheinfo",
      `100644,${blob},${relative("/", join("/", path))}`,
    ],
  });
}
