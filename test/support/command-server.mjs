// command-server: runs commands of the built command line one after another or several at once, in one process: the same files of dist/,
// loaded and warm, without a start of Node for each. One serves a worker of the tests; see served.ts.
//
// What a process would have to itself is kept apart: the environment, the home and the temporary folder are the command's own wherever its
// code asks for them. What is about the process (signals, standard input, its end, its id) is not: such a test starts one, see autopilot.ts.
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import os from "node:os";
import { dirname, join } from "node:path";

const own = new AsyncLocalStorage();
const program = process.argv[2] ?? "";
const outside = process.env;
const here = () => own.getStore() ?? outside;

process.argv = [process.execPath, program]; // what starts itself again starts the program
process.env = new Proxy(outside, {
  get: (_, name) => Reflect.get(here(), name),
  has: (_, name) => Reflect.has(here(), name),
  set: (_, name, value) => Reflect.set(here(), name, value),
  deleteProperty: (_, name) => Reflect.deleteProperty(here(), name),
  ownKeys: () => Reflect.ownKeys(here()),
  getOwnPropertyDescriptor: (_, name) => {
    const found = Reflect.getOwnPropertyDescriptor(here(), name);
    return found === undefined ? undefined : { ...found, configurable: true };
  },
});
const { homedir, tmpdir } = os;
os.homedir = () => own.getStore()?.HOME ?? homedir();
os.tmpdir = () => own.getStore()?.TMPDIR ?? tmpdir();
const { main } = createRequire(import.meta.url)(join(dirname(program), "cli.cjs"));

async function run({ cwd, words, env }) {
  const written = { out: "", err: "" };
  const io = {
    cwd,
    env,
    user: os.userInfo().username,
    isTerminal: { in: false, out: false, err: false },
    columns: () => 80,
    rows: () => 24,
    write: (to, text) => void (written[to] += text),
    lost: () => null,
    readLine: () => Promise.resolve(null),
    onInterrupt: () => () => undefined,
    leave: (code) => process.exit(code),
  };
  const code = await own.run(env, () => main(words, io));
  return { code, ...written };
}

process.on(
  "message",
  ({ id, ...asked }) => void run(asked).then((ended) => process.send?.({ id, ...ended })),
);
process.on("disconnect", () => process.exit(0)); // the worker is gone
process.send?.({ id: 0 });
