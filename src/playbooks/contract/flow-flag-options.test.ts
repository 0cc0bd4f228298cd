import { expect, test } from "vitest";
import type { Flow } from "../../contracts/flow.ts";
import { buildInvocationOptions, buildRunOptions } from "./flow-flag-options.ts";
import { Refusal } from "../../project/respond.ts";

const optional = { type: "word" as const, one_of: ["ask", "do", "skip"], default: "ask" };
const staged: Flow = {
  flow: "x",
  version: 1,
  options: {
    continue: { type: "flag" },
    attended: { type: "flag" },
    more_tasks: { type: "count", default: 0 },
    ui: optional,
    security: optional,
  },
  phases: [{ id: "1", steps: [{ id: "a", check: ["test -d ."] }] }],
};
const plain: Flow = { ...staged, options: {} };

test("flags become options of the flow: what lasts with the run, and what holds for this invocation", () => {
  expect(buildRunOptions(staged, { continue: true, with: ["ui"], tasks: 3 })).toEqual({
    ui: "do",
    more_tasks: 2,
  });

  expect(buildInvocationOptions(staged, { continue: true }, false)).toEqual({
    continue: true,
    attended: false,
  });

  expect(buildInvocationOptions(staged, {}, true)).toEqual({ attended: true });
  expect(buildInvocationOptions(plain, {}, true)).toEqual({});
});

test.each([
  [
    "--with tea",
    () => buildRunOptions(staged, { with: ["tea"] }),
    /--with tea means nothing to the flow x, which has ui, security/,
  ],
  [
    "--with on a flow without optional steps",
    () => buildRunOptions(plain, { with: ["ui"] }),
    /--with ui means nothing to the flow x\./,
  ],
  ["--tasks", () => buildRunOptions(plain, { tasks: 2 }), /--tasks means nothing/],
  [
    "--continue",
    () => buildInvocationOptions(plain, { continue: true }, false),
    /--continue means nothing/,
  ],
])("%s is refused by name where the flow knows nothing of it", (_what, ask, says) => {
  expect(ask).toThrow(Refusal);
  expect(ask).toThrow(says);
});
