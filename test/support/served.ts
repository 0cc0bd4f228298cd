// served: asks this worker's command server (command-server.mjs) to run a command; it is started
// with the first, and ends with the worker.

import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;
type Asked = { readonly cwd: string; readonly words: readonly string[]; readonly env: Environment };
export type Served = { readonly code: number; readonly out: string; readonly err: string };
type Answer = Served & { readonly id: number };
type Server = {
  readonly child: ChildProcess;
  readonly waiting: Map<number, (answer: Served | Error) => void>;
};

/**
 * Little room for the young: a process that starts others by the dozen pays for every page it has
 * touched. V8 optimizes late: most functions are called too seldom for it to pay; but none is
 * interpreted, which saves a sixth of its computing.
 */
const nodeOptions = ["--max-semi-space-size=4", "--interrupt-budget=2000000", "--always-sparkplug"];
let server: Server | null = null;
let asked = 0;

/**
 * Runs a command in the server's process. One that ends the server fails, and the next gets
 * another.
 */
export function served(program: string, command: Asked): Promise<Served> {
  const { child, waiting } = (server ??= started(program));
  const id = (asked += 1);
  return new Promise((resolve, reject) => {
    waiting.set(id, (answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
    child.send({ id, ...command });
  });
}

function started(program: string): Server {
  const child = fork(join(import.meta.dirname, "command-server.mjs"), [program], {
    execArgv: nodeOptions,
    env: { PATH: process.env["PATH"], LANG: "C.UTF-8" },
    stdio: ["ignore", "inherit", "pipe", "ipc"],
  });

  const waiting: Server["waiting"] = new Map();
  let said = "";
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => (said = (said + text).slice(-10_000)));

  child.on("message", (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });

  child.once("close", (code, signal) => {
    if (server?.child === child) server = null;
    for (const answer of waiting.values()) {
      answer(new Error(`the command server ended (${signal ?? code}) under a command:\n${said}`));
    }
  });

  child.unref();
  child.channel?.unref();
  return { child, waiting };
}
