// actions: performs a script's actions on files, with a shell and with the runner's tools, as a
// real agent would: each is a tool call, and a failed one does not end the turn.

import { appendFile, chmod, link, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { ScriptAction } from "../../contracts/script.ts";
import type { CallRunner } from "./runner-tools.ts";

/** An action as the protocol reports it. */
export type ScriptedTool = {
  readonly title: string;
  readonly kind: "edit" | "delete" | "move" | "execute" | "other";
  readonly paths: readonly string[];
  /** Performs it; returns the tool's output. */
  readonly perform: (signal: AbortSignal) => Promise<string>;
};

const outputBytesMax = 64 * 1024;

/**
 * The tool call of an action, or null if the action isn't a tool's. Paths are relative to the
 * working folder, or absolute.
 */
export const toTool = (
  action: ScriptAction,
  cwd: string,
  callRunner: CallRunner,
): ScriptedTool | null =>
  toEdit(action, cwd) ??
  toRemoval(action, cwd) ??
  toRunnerTool(action, callRunner) ??
  toCommand(action, cwd);

/** An action that changes one file, whose folders are created if missing. */
function toEdit(action: ScriptAction, cwd: string): ScriptedTool | null {
  const createEdit = (
    title: string,
    path: string,
    edit: (fullPath: string) => Promise<unknown>,
  ): ScriptedTool => {
    const fullPath = resolve(cwd, path);
    return {
      title: `${title} ${path}`,
      kind: "edit",
      paths: [fullPath],
      perform: async () => {
        await mkdir(dirname(fullPath), { recursive: true });
        await edit(fullPath);
        return "";
      },
    };
  };

  if ("write" in action) {
    const { path, text, mode } = action.write;
    return createEdit("write", path, async (fullPath) => {
      await writeFile(fullPath, text);
      if (mode !== undefined) await chmod(fullPath, parseMode(mode));
    });
  }

  if ("append" in action) {
    const { path, text } = action.append;
    return createEdit("append to", path, (fullPath) => appendFile(fullPath, text));
  }

  if ("chmod" in action) {
    const { path, mode } = action.chmod;
    return createEdit("change the mode of", path, (fullPath) => chmod(fullPath, parseMode(mode)));
  }

  if ("link" in action) {
    const { path, target, hard = false } = action.link;
    return createEdit("link", path, (fullPath) =>
      hard ? link(resolve(cwd, target), fullPath) : symlink(target, fullPath),
    );
  }

  return null;
}

/** An action after which something is gone from its place. */
function toRemoval(action: ScriptAction, cwd: string): ScriptedTool | null {
  if ("delete" in action) {
    const { path } = action.delete;
    const fullPath = resolve(cwd, path);
    return {
      title: `delete ${path}`,
      kind: "delete",
      paths: [fullPath],
      perform: async () => {
        await rm(fullPath, { recursive: true });
        return "";
      },
    };
  }

  if ("rename" in action) {
    const { from, to } = action.rename;
    const [fullFrom, fullTo] = [resolve(cwd, from), resolve(cwd, to)];
    return {
      title: `rename ${from} to ${to}`,
      kind: "move",
      paths: [fullFrom, fullTo],
      perform: async () => {
        await mkdir(dirname(fullTo), { recursive: true });
        await rename(fullFrom, fullTo);
        return "";
      },
    };
  }

  return null;
}

function toRunnerTool(action: ScriptAction, callRunner: CallRunner): ScriptedTool | null {
  const createCall = (title: string, value: object): ScriptedTool => ({
    title,
    kind: "other",
    paths: [],
    perform: () => callRunner(title, value),
  });

  if ("submit" in action) return createCall("submit_result", action.submit);
  if ("note" in action) return createCall("note", { text: action.note });
  if ("ask" in action) {
    const { ask } = action;
    return createCall("ask_human", typeof ask === "string" ? { question: ask } : ask);
  }

  return null;
}

function toCommand(action: ScriptAction, cwd: string): ScriptedTool | null {
  if (!("run" in action)) return null;
  const { run: command } = action;

  return {
    title: command,
    kind: "execute",
    paths: [],
    perform: (signal) => runCommand(command, cwd, signal),
  };
}

const parseMode = (mode: string): number => Number.parseInt(mode, 8);

/**
 * Runs a command through a shell and in its own session, as agents do. Most turns run none, and
 * start sooner without its module.
 */
async function runCommand(command: string, cwd: string, signal: AbortSignal): Promise<string> {
  const { spawn } = await import("node:child_process");
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", command], {
      cwd,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });

    let output = "";
    const onData = (chunk: Buffer): void => {
      if (output.length < outputBytesMax) {
        output += chunk.toString("utf8").slice(0, outputBytesMax - output.length);
      }
    };
    child.stdout.on("data", onData);
    child.stderr.on("data", onData);
    const onAbort = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    signal.addEventListener("abort", onAbort, { once: true });
    child.once("error", reject);
    // Not `close`: a command left in the background keeps the pipe open for as long as it lives.
    child.once("exit", (code, killed) => {
      signal.removeEventListener("abort", onAbort);
      setImmediate(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        if (code === 0) return resolve(output);
        const why = killed ?? `exit code ${code ?? "unknown"}`;
        reject(new Error(`${why}\n${output}`));
      });
    });
  });
}
