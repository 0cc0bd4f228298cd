// processor-time: where the suite's computing goes. With TEST_CPU=FILE a line is added to FILE for
// each test file: its wall time, and the processor seconds of the worker, of what it started, of
// its command server and of what that started.

import { appendFileSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect } from "vitest";

const ticksPerSecond = 100;
type Spent = { readonly own: number; readonly children: number };

/** A process's own time and that of its children which have ended. */
function spentBy(pid: number | "self"): Spent {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);

  return {
    own: (user + system) / ticksPerSecond,
    children: (childUser + childSystem) / ticksPerSecond,
  };
}

function server(): Spent {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean)
    .map(Number);
  const found = children.find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("command-server"),
  );
  return found === undefined ? { own: 0, children: 0 } : spentBy(found);
}

let before = { at: 0, worker: spentBy("self"), server: server() };
beforeAll(
  () => void (before = { at: performance.now(), worker: spentBy("self"), server: server() }),
);
afterAll(() => {
  const [worker, served] = [spentBy("self"), server()];
  const line = {
    file: expect.getState().testPath,
    wall: (performance.now() - before.at) / 1000,
    worker: worker.own - before.worker.own,
    started: worker.children - before.worker.children,
    server: served.own - before.server.own,
    server_started: served.children - before.server.children,
  };

  appendFileSync(process.env["TEST_CPU"] ?? "/dev/null", `${JSON.stringify(line)}\n`);
});
