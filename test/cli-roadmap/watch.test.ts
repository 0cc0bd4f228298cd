// `autopilot watch` from another terminal: a board that is drawn in place; and plain lines where
// there is no terminal.

import { execFile, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import {
  begin,
  compiled,
  type Ended,
  journal,
  program,
  scripted,
  until,
} from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";
import { env, projectOf, turnsFor } from "./roadmaps.ts";

const args = (folder: string): readonly string[] => {
  const slow = turnsFor(["1"]).map((turn) => ({
    ...turn,
    do: [{ say: "I am at it" }, { sleep: 700 }, ...(turn as { do: object[] }).do],
  }));
  return [
    "roadmap",
    "all",
    "--checkpoint-every",
    "1",
    "--yes",
    "--json",
    "--isolation",
    "clone",
    ...scripted(folder, slow),
  ];
};

/**
 * A command on a terminal of 100 columns and 30 rows; what it wrote, with everything that steers
 * the terminal.
 */
const driver = `import os, pty, sys, fcntl, termios, struct
pid, fd = pty.fork()
if pid == 0:
    os.chdir(sys.argv[1]); os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
while True:
    try: data = os.read(fd, 65536)
    except OSError: break
    if not data: break
    sys.stdout.buffer.write(data)
os.waitpid(pid, 0)
`;
const hasPython = spawnSync("python3", ["--version"]).status === 0;

type Watched = { readonly plain: Ended; readonly board: string };

/** One run with two who watch it: away from a terminal, and on one. */
async function watchedRun(): Promise<Watched> {
  const folder = scratch({ files: projectOf([{ id: "1" }, { id: "2", after: "Phase 1" }]) });
  const { ended } = begin(folder, args(folder), { env });
  await until("the first turn", () =>
    journal(folder).some(({ event }) => event === "session_opened"),
  );

  const file = join(dirname(folder), "terminal.py");
  writeFileSync(file, driver);
  const home = join(dirname(folder), "home");
  const onTerminal = {
    env: { PATH: process.env["PATH"], HOME: home, TERM: "xterm", LANG: "C.UTF-8", ...compiled },
    maxBuffer: 1 << 26,
  };
  const board = hasPython
    ? promisify(execFile)("python3", [file, folder, process.execPath, program, "watch"], onTerminal)
    : Promise.resolve({ stdout: "" });

  const [plain, { stdout }] = await Promise.all([begin(folder, ["watch"]).ended, board, ended]);
  return { plain, board: stdout };
}
let played: Promise<Watched> | null = null;
const watched = (): Promise<Watched> => (played ??= watchedRun());

test("away from a terminal there are plain lines: phases, steps, tasks, what was spent", async () => {
  const { plain } = await watched();
  expect(plain.code).toBe(0);
  expect(plain.err).not.toContain("\u001b");

  for (const line of [
    "Read 2 phases",
    "Phase 1 started",
    "1 task in 1 batch",
    "Phase 1 done",
    "score 9",
    "1 of 2 phases over",
  ]) {
    expect(plain.err).toContain(line);
  }
});

test.skipIf(!hasPython)(
  "on a terminal there is a board below them (needs python3 for a terminal)",
  async () => {
    const { board } = await watched();
    const shown = board.replaceAll(/\u001b\[[\d;]*m/g, ""); // without colours
    expect(shown).toMatch(/running, roadmap, 0 of 2 phases completed, process \d+/);
    expect(shown).toMatch(/spent [\d,]+ of [\d,]+ tokens/);
    expect(shown).toMatch(/▸ +1 +Write 1 +in progress: /);
    expect(shown).toMatch(/(?:✓ preflight|…) {2}✓ triage/);
    expect(shown).toContain("breaker closed");
    expect(shown).toContain("I am at it");
    expect(shown).toContain("\u001b[0J"); // drawn in place

    for (const line of shown.split(/\r?\n|\u001b\[\d*[AJ]|\r/)) {
      expect(Array.from(line).length).toBeLessThanOrEqual(300);
    }
  },
);
