// deeds: what the embedded agent does to files, with a shell and with its runner's tools, as an agent would: told as tool calls, and going on after a failure.

import { spawn } from "node:child_process";
import { appendFile, chmod, link, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { ScriptDeed } from "../../contracts/script.ts";
import type { CallRunner } from "./runner-tools.ts";

/** A deed as the protocol tells it. */
export type Tool = {
  readonly title: string;
  readonly kind: "edit" | "delete" | "move" | "execute" | "other";
  readonly paths: readonly string[];
  /** Does it; what it answers is the tool's output. */
  readonly act: (signal: AbortSignal) => Promise<string>;
};

const outputBytesMax = 64 * 1024;

/** The tool call of a deed, or null where the deed is no tool's. Paths are relative to the working folder, or absolute. */
export function toolOf(deed: ScriptDeed, cwd: string, callRunner: CallRunner): Tool | null {
  const at = (path: string): string => resolve(cwd, path);
  const edit = (title: string, path: string, act: (full: string) => Promise<unknown>): Tool => ({
    title: `${title} ${path}`,
    kind: "edit",
    paths: [at(path)],
    act: async () => {
      await mkdir(dirname(at(path)), { recursive: true });
      await act(at(path));
      return "";
    },
  });
  if ("write" in deed) {
    const { path, text, mode } = deed.write;
    return edit("write", path, async (full) => {
      await writeFile(full, text);
      if (mode !== undefined) await chmod(full, modeOf(mode));
    });
  }
  if ("append" in deed) return edit("append to", deed.append.path, (full) => appendFile(full, deed.append.text));
  if ("chmod" in deed) return edit("change the mode of", deed.chmod.path, (full) => chmod(full, modeOf(deed.chmod.mode)));
  if ("link" in deed) {
    const { path, target, hard = false } = deed.link;
    return edit("link", path, (full) => (hard ? link(at(target), full) : symlink(target, full)));
  }
  if ("delete" in deed) {
    const { path } = deed.delete;
    return { title: `delete ${path}`, kind: "delete", paths: [at(path)], act: () => rm(at(path), { recursive: true }).then(() => "") };
  }
  if ("rename" in deed) {
    const { from, to } = deed.rename;
    const act = async (): Promise<string> => {
      await mkdir(dirname(at(to)), { recursive: true });
      await rename(at(from), at(to));
      return "";
    };
    return { title: `rename ${from} to ${to}`, kind: "move", paths: [at(from), at(to)], act };
  }
  const ofRunner = (title: string, value: object): Tool => ({ title, kind: "other", paths: [], act: () => callRunner(title, value) });
  if ("submit" in deed) return ofRunner("submit_result", deed.submit);
  if ("ask" in deed) return ofRunner("ask_human", typeof deed.ask === "string" ? { question: deed.ask } : deed.ask);
  if ("note" in deed) return ofRunner("note", { text: deed.note });
  if ("run" in deed) return { title: deed.run, kind: "execute", paths: [], act: (signal) => run(deed.run, cwd, signal) };
  return null;
}

const modeOf = (mode: string): number => Number.parseInt(mode, 8);

/** Through a shell and in a session of its own, as agents run their commands. */
function run(command: string, cwd: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", command], { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const hear = (chunk: Buffer): void => {
      if (output.length < outputBytesMax) output += chunk.toString("utf8").slice(0, outputBytesMax - output.length);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
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
        if (code === 0) resolve(output);
        else reject(new Error(`${killed === null ? `exit code ${code ?? "unknown"}` : killed}\n${output}`));
      });
    });
  });
}
