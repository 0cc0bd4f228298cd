// io: an input and output for tests of commands, in memory.

import type { Interrupt, CommandIo } from "./io.ts";

export type FakeIo = {
  readonly io: CommandIo;
  readonly out: () => string;
  readonly err: () => string;
  readonly interrupt: (kind?: Interrupt["kind"]) => void;
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
    lost: () => null,
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
    for (const listener of listeners) listener({ kind, code: { rest: 130, end: 143, hangup: 129 }[kind] });
  };
  return { io, out: () => written.out, err: () => written.err, interrupt, left: () => left };
}
