// io: makes an input and output in memory, for tests of commands.

import type { Interrupt, CommandIo } from "./io.ts";

export type FakeIo = {
  readonly io: CommandIo;
  readonly out: () => string;
  readonly err: () => string;
  readonly interrupt: (kind?: Interrupt["kind"]) => void;
  /** The code with which the process was ended; null if it was not. */
  readonly left: () => number | null;
};

/** A process that only remembers what was written; `answers` are what its person types. */
export function fakeIo(changes: Partial<CommandIo> = {}, answers: readonly string[] = []): FakeIo {
  const written = { out: "", err: "" };
  const listeners = new Set<(interrupt: Interrupt) => void>();
  const waiting = [...answers];
  let left: number | null = null;

  const io: CommandIo = {
    cwd: "/",
    env: {},
    user: "kim",
    isTerminal: { in: false, out: false, err: false },
    columns: () => 80,
    rows: () => 24,
    write: (to, text) => {
      written[to] += text;
    },
    writeFailure: () => null,
    readLine: (cancel) => Promise.resolve(cancel.aborted ? null : (waiting.shift() ?? null)),
    onInterrupt: (callback) => {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
    leave: (code) => {
      left = code;
    },
    ...changes,
  };

  const interrupt = (kind: Interrupt["kind"] = "rest"): void => {
    for (const listener of listeners) {
      listener({ kind, code: { rest: 130, end: 143, hangup: 129 }[kind] });
    }
  };

  return { io, out: () => written.out, err: () => written.err, interrupt, left: () => left };
}
