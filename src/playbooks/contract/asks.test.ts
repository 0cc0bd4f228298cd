import { expect, test } from "vitest";
import type { Flow } from "../../contracts/flow.ts";
import { asksOf, lastingAsks } from "./asks.ts";
import { Refusal } from "../../project/reply.ts";

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
  expect(lastingAsks(staged, { continue: true, with: ["ui"], tasks: 3 })).toEqual({ ui: "do", more_tasks: 2 });
  expect(asksOf(staged, { continue: true }, false)).toEqual({ continue: true, attended: false });
  expect(asksOf(staged, {}, true)).toEqual({ attended: true });
  expect(asksOf(plain, {}, true)).toEqual({});
});

test.each([
  ["--with tea", () => lastingAsks(staged, { with: ["tea"] }), /--with tea means nothing to the flow x, which has ui, security/],
  ["--with on a flow without optional steps", () => lastingAsks(plain, { with: ["ui"] }), /--with ui means nothing to the flow x\./],
  ["--tasks", () => lastingAsks(plain, { tasks: 2 }), /--tasks means nothing/],
  ["--continue", () => asksOf(plain, { continue: true }, false), /--continue means nothing/],
])("%s is refused by name where the flow knows nothing of it", (_what, ask, says) => {
  expect(ask).toThrow(Refusal);
  expect(ask).toThrow(says);
});
