// object-reader: reads objects of a repository through one `git cat-file --batch` that stays open
// between requests, so that a small read does not cost a process.
//
// Invariants:
//   R1. One request at a time; an answer belongs to the request before it. A reader that fails, or
//       is interrupted, is never used again. A reader that is abandoned over a large object leaves
//       the requests that wait for it to the next reader.
//   R2. It does not keep the idle runner alive, and it ends with the runner.
//   R3. The git folder is checked before a reader is opened on it, as before any call (git.ts).

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { GitSha } from "../../contracts/ids.ts";
import { WorkspaceFailed } from "../failure.ts";
import { requireSafeCall } from "./git.ts";
import {
  composeGitArguments,
  composeGitEnvironment,
  type GitContext,
  timeoutMsDefault,
} from "./safe-git-call.ts";
import { endAtExit } from "./running-gits.ts";

/** `content` is null if it is larger than the requested limit. */
export type GitObject = {
  readonly sha: GitSha;
  readonly type: string;
  readonly content: Buffer | null;
};

const idleMs = 20_000;
const bytesMaxDefault = 1 << 29;
const lineFeed = 10;
/** The open readers, by working folder and environment. */
const readers = new Map<string, ObjectReader>();

/** The object a name resolves to (`<sha>`, `<sha>^{tree}`), of any type; null if it is missing. */
export async function readObject(
  call: GitContext,
  name: string,
  bytesMax = bytesMaxDefault,
): Promise<GitObject | null> {
  // Where new objects go does not matter for reading: a repository that borrows from there sees
  // them too.
  const { GIT_OBJECT_DIRECTORY: _, ...env } = call.env ?? {};
  const key = JSON.stringify([call.cwd, env]);

  for (;;) {
    if (!readers.has(key)) await requireSafeCall({ ...call, env, args: ["cat-file"] }); // R3
    const reader = readers.get(key) ?? openReader(key, { ...call, env });
    const answer = await reader.read(name, bytesMax);
    if (answer !== "abandoned") return answer; // R1
  }
}

function openReader(key: string, call: GitContext): ObjectReader {
  const reader: ObjectReader = new ObjectReader(call, () => {
    if (readers.get(key) === reader) readers.delete(key);
  });
  readers.set(key, reader);
  return reader;
}

class ObjectReader {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #sockets: readonly Socket[];
  readonly #timeoutMs: number;
  /** Called when the reader can't be used any more. */
  readonly #onEnd: () => void;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  /** Continues the request that waits for output. */
  #wake: () => void = () => undefined;
  #failure: string | null = null;
  #isAbandoned = false;
  #lastRequest: Promise<unknown> = Promise.resolve();
  #requestCount = 0;
  #idleTimer: NodeJS.Timeout | null = null;

  constructor(call: GitContext, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#timeoutMs = call.timeoutMs ?? timeoutMsDefault;
    this.#child = spawn("git", [...composeGitArguments(call), "cat-file", "--batch"], {
      // Its working folder is neutral: a reader of objects must not hold a folder that is to be
      // deleted.
      cwd: call.env?.["GIT_DIR"]?.startsWith("/") === true ? "/" : call.cwd,
      env: composeGitEnvironment(call),
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });

    const { stdin, stdout, stderr } = this.#child;
    // If it could not start it may have no pipes; its error event follows.
    this.#sockets = [stdin, stdout, stderr].filter(
      (stream) => stream !== undefined,
    ) as unknown as readonly Socket[];

    endAtExit(this.#child, "at once"); // R2
    this.#child.on("error", (error) => this.#fail(error.message));
    this.#child.on("close", () => this.#fail("git cat-file ended"));
    stdin?.on("error", () => undefined);
    stderr?.resume();
    stdout?.on("data", (bytes: Buffer) => {
      this.#chunks.push(bytes);
      this.#bufferedBytes += bytes.length;
      this.#wake();
    });

    this.#child.unref(); // R2
    this.#releaseEventLoop();
  }

  /** The object; null if it is missing; `abandoned` if another reader has to be asked. */
  read(name: string, bytesMax: number): Promise<GitObject | "abandoned" | null> {
    this.#requestCount += 1;
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    for (const socket of this.#sockets) socket.ref();
    const timeout = setTimeout(() => this.#fail("it did not answer in time"), this.#timeoutMs);
    const request = this.#lastRequest.then(() => this.#request(name, bytesMax)); // R1
    this.#lastRequest = request
      .catch(() => undefined)
      .finally(() => {
        clearTimeout(timeout);
        this.#requestCount -= 1;
        if (this.#requestCount > 0) return;
        this.#releaseEventLoop();
        this.#idleTimer = setTimeout(() => this.#fail("nobody asked it anything"), idleMs).unref();
      });

    return request;
  }

  async #request(name: string, bytesMax: number): Promise<GitObject | "abandoned" | null> {
    if (this.#isAbandoned) return "abandoned";
    if (this.#failure !== null) await this.#waitForOutput(); // throws
    this.#child.stdin.write(`${name}\n`);
    const words = (await this.#readLine()).split(" "); // `<sha> <type> <size>`, or `<name> missing`
    const [sha = "", type = "", size = ""] = words;
    if (words.at(-1) === "missing" || words.length !== 3) return null;
    const length = Number(size);
    if (length > bytesMax) {
      this.#isAbandoned = true; // reading past its content would cost more than another reader
      this.#end();
      return { sha, type, content: null };
    }

    while (this.#bufferedBytes < length + 1) await this.#waitForOutput(); // the object and a line feed
    return { sha, type, content: this.#take(length + 1).subarray(0, length) };
  }

  async #readLine(): Promise<string> {
    for (;;) {
      const index = this.#joinChunks().indexOf(lineFeed);
      if (index !== -1) {
        return this.#take(index + 1)
          .toString("latin1")
          .trim();
      }

      await this.#waitForOutput();
    }
  }

  /** Removes so many bytes from the front of the buffered output. */
  #take(length: number): Buffer {
    const buffered = this.#joinChunks();
    this.#chunks = buffered.length === length ? [] : [buffered.subarray(length)];
    this.#bufferedBytes -= length;

    return buffered.subarray(0, length);
  }

  #joinChunks(): Buffer {
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1
      ? first
      : Buffer.concat(this.#chunks, this.#bufferedBytes);
  }

  /** Resolves when more output came; throws if none will come. */
  async #waitForOutput(): Promise<void> {
    if (this.#failure !== null) {
      throw new WorkspaceFailed(
        "workspace_unusable",
        `An object could not be read: ${this.#failure}`,
      );
    }

    await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  #releaseEventLoop(): void {
    for (const socket of this.#sockets) socket.unref(); // R2
  }

  #fail(reason: string): void {
    this.#failure ??= reason; // R1
    this.#end();
  }

  #end(): void {
    this.#onEnd();
    this.#child.kill("SIGKILL");
    this.#wake();
  }
}
