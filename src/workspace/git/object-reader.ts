// object-reader: reads objects of a repository through one `git cat-file --batch` that stays open between requests, so that a small read
// does not cost a process.
//
// Invariants:
//   R1. One request at a time; an answer belongs to the request before it. A reader that fails, or is interrupted, is never used again;
//       one that is given up over a large object leaves those who waited behind it to the next reader.
//   R2. It does not keep the idle runner alive, and it ends with the runner.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { GitSha } from "../../contracts/ids.ts";
import { WorkspaceFailed } from "../failure.ts";
import { endAtExit } from "./running-gits.ts";
import { composeGitArguments, composeGitEnvironment, timeoutMsDefault, type GitContext } from "./git.ts";

/** `content` is null if it is larger than the given limit. */
export type GitObject = { readonly sha: GitSha; readonly type: string; readonly content: Buffer | null };

const idleMs = 20_000;
const bytesMaxDefault = 1 << 29;
const readers = new Map<string, Reader>();

/** The object a name resolves to (`<sha>`, `<sha>^{tree}`); null if it is missing. */
export async function readObject(call: GitContext, name: string, bytesMax = bytesMaxDefault): Promise<GitObject | null> {
  // Where new objects go does not matter for reading: a repository that borrows from there sees them too.
  const { GIT_OBJECT_DIRECTORY: _, ...env } = call.env ?? {};
  const key = JSON.stringify([call.cwd, env]);
  for (;;) {
    const reader = readers.get(key) ?? openReader({ ...call, env }, (given) => readers.get(key) === given && readers.delete(key));
    readers.set(key, reader);
    const answer = await reader.ask(name, bytesMax);
    if (answer !== "given up") return answer;
  }
}

type Reader = { readonly ask: (name: string, bytesMax: number) => Promise<GitObject | "given up" | null> };

function openReader(call: GitContext, forgetReader: (reader: Reader) => void): Reader {
  const child: ChildProcessWithoutNullStreams = spawn("git", [...composeGitArguments(call), "cat-file", "--batch"], {
    // Its working folder is neutral: a reader of objects must not hold a folder that is to be deleted.
    cwd: call.env?.["GIT_DIR"]?.startsWith("/") === true ? "/" : call.cwd,
    env: composeGitEnvironment(call),
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  endAtExit(child, "at once"); // R2
  let chunks: Buffer[] = [];
  let bufferedBytes = 0;
  let wake: () => void = () => undefined;
  let failure: string | null = null;
  let isGivenUp = false;
  const end = (): void => {
    forgetReader(reader);
    child.kill("SIGKILL");
    wake();
  };
  const fail = (text: string): void => {
    failure ??= text; // R1
    end();
  };
  child.on("error", (error) => fail(error.message));
  child.on("close", () => fail("git cat-file ended"));
  // If it could not start it may have no pipes; its error event follows.
  const sockets = [child.stdin, child.stdout, child.stderr].filter((stream) => stream !== undefined) as unknown as readonly Socket[];
  child.stdin?.on("error", () => undefined);
  child.stderr?.resume();
  child.stdout?.on("data", (bytes: Buffer) => {
    chunks.push(bytes);
    bufferedBytes += bytes.length;
    wake();
  });
  child.unref();
  const releaseEventLoop = (): void => {
    for (const socket of sockets) socket.unref(); // R2
  };
  releaseEventLoop();

  const waitForOutput = async (): Promise<void> => {
    if (failure !== null) throw new WorkspaceFailed("workspace_unusable", `An object could not be read: ${failure}`);
    await new Promise<void>((resolve) => (wake = resolve));
  };
  const holds = (length: number): boolean => bufferedBytes >= length;
  const take = (length: number): Buffer => {
    const all = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks, bufferedBytes);
    chunks = all.length === length ? [] : [all.subarray(length)];
    bufferedBytes -= length;
    return all.subarray(0, length);
  };
  const readLine = async (): Promise<string> => {
    for (;;) {
      const index =
        chunks.length === 0
          ? -1
          : (chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks, bufferedBytes)).indexOf(10);
      if (index !== -1)
        return take(index + 1)
          .toString("latin1")
          .trim();
      await waitForOutput();
    }
  };
  const request = async (name: string, bytesMax: number): Promise<GitObject | "given up" | null> => {
    if (isGivenUp) return "given up";
    if (failure !== null) await waitForOutput();
    child.stdin.write(`${name}\n`);
    const words = (await readLine()).split(" ");
    const [sha = "", type = "", size = ""] = words;
    if (words.at(-1) === "missing" || words.length !== 3) return null;
    const length = Number(size);
    if (length > bytesMax) {
      isGivenUp = true; // reading past its content would cost more than another reader
      end();
      return { sha, type, content: null };
    }
    while (!holds(length + 1)) await waitForOutput(); // the object and a line end
    return { sha, type, content: take(length + 1).subarray(0, length) };
  };

  let last: Promise<unknown> = Promise.resolve();
  let pending = 0;
  let idleTimer: NodeJS.Timeout | null = null;
  const reader: Reader = {
    ask: (name, bytesMax) => {
      pending += 1;
      if (idleTimer !== null) clearTimeout(idleTimer);
      for (const socket of sockets) socket.ref();
      const timeout = setTimeout(() => fail("it did not answer in time"), call.timeoutMs ?? timeoutMsDefault);
      const next = last.then(() => request(name, bytesMax)); // R1
      last = next
        .catch(() => undefined)
        .finally(() => {
          clearTimeout(timeout);
          pending -= 1;
          if (pending > 0) return;
          releaseEventLoop();
          idleTimer = setTimeout(() => fail("nobody asked it anything"), idleMs).unref();
        });
      return next;
    },
  };
  return reader;
}
