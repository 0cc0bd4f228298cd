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
  readonly act: (signal: AbortSignal) => Promise<string>;
};

const outputBytesMax = 64 * 1024;

/**
 * The tool call of an action, or null if the action isn't a tool's. Paths are relative to the
 * working folder, or absolute.
 */
export function toTool(
  action: ScriptAction,
  cwd: string,
  callRunner: CallRunner,
): ScriptedTool | null {
  const toFullPath = (path: string): string => resolve(cwd, path);
  const createEdit = (
    title: string,
    path: string,
    act: (full: string) => Promise<unknown>,
  ): ScriptedTool => ({
    title: `${title} ${path}`,
    kind: "edit",
    paths: [toFullPath(path)],
    act: async () => {
      await mkdir(dirname(toFullPath(path)), { recursive: true });
      await act(toFullPath(path));
      return "";
    },
  });

  if ("write" in action) {
    const { path, text, mode } = action.write;
    return createEdit("write", path, async (full) => {
      await writeFile(full, text);
      if (mode !== undefined) await chmod(full, parseMode(mode));
    });
  }

  if ("append" in action) {
    return createEdit("append to", action.append.path, (full) =>
      appendFile(full, action.append.text),
    );
  }

  if ("chmod" in action) {
    return createEdit("change the mode of", action.chmod.path, (full) =>
      chmod(full, parseMode(action.chmod.mode)),
    );
  }

  if ("link" in action) {
    const { path, target, hard = false } = action.link;
    return createEdit("link", path, (full) =>
      hard ? link(toFullPath(target), full) : symlink(target, full),
    );
  }

  if ("delete" in action) {
    const { path } = action.delete;
    return {
      title: `delete ${path}`,
      kind: "delete",
      paths: [toFullPath(path)],
      act: () => rm(toFullPath(path), { recursive: true }).then(() => ""),
    };
  }

  if ("rename" in action) {
    const { from, to } = action.rename;
    const act = async (): Promise<string> => {
      await mkdir(dirname(toFullPath(to)), { recursive: true });
      await rename(toFullPath(from), toFullPath(to));
      return "";
    };

    return {
      title: `rename ${from} to ${to}`,
      kind: "move",
      paths: [toFullPath(from), toFullPath(to)],
      act,
    };
  }

  const createRunnerTool = (title: string, value: object): ScriptedTool => ({
    title,
    kind: "other",
    paths: [],
    act: () => callRunner(title, value),
  });
  if ("submit" in action) return createRunnerTool("submit_result", action.submit);
  if ("ask" in action) {
    return createRunnerTool(
      "ask_human",
      typeof action.ask === "string" ? { question: action.ask } : action.ask,
    );
  }

  if ("note" in action) return createRunnerTool("note", { text: action.note });
  if ("run" in action) {
    return {
      title: action.run,
      kind: "execute",
      paths: [],
      act: (signal) => runCommand(action.run, cwd, signal),
    };
  }

  return null;
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

        if (code === 0) {
          resolve(output);
        } else {
          reject(
            new Error(`${killed === null ? `exit code ${code ?? "unknown"}` : killed}\n${output}`),
          );
        }
      });
    });
  });
}
