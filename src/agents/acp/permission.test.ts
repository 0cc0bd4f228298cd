import { expect, test } from "vitest";
import { createInLayerTest } from "../turn/path-in-layer.ts";
import { PermissionAnswers, judgeCall } from "./permission.ts";
import { ToolCalls } from "../turn/tool-calls.ts";

const rules = {
  isInside: createInLayerTest("/srv/layer"),
  isInScope: (path: string) => path.includes("src/"),
  mayFetch: false,
};
const judged = (update: object, changes: object = {}) =>
  judgeCall(new ToolCalls().merge({ toolCallId: "t", ...update }), { ...rules, ...changes });
const at = (...paths: readonly string[]) => ({ locations: paths.map((path) => ({ path })) });

test.each<[string, object, "allowed" | "refused"]>([
  ["an edit in scope", { kind: "edit", ...at("/srv/layer/src/a.ts") }, "allowed"],
  ["an edit out of scope", { kind: "edit", ...at("/srv/layer/docs/a.md") }, "refused"],
  ["an edit outside the layer", { kind: "edit", ...at("/etc/src/passwd") }, "refused"],
  ["an edit that climbs out", { kind: "edit", ...at("src/../../x") }, "refused"],
  ["a deletion out of scope", { kind: "delete", ...at("README.md") }, "refused"],
  ["a move whose end is out of scope", { kind: "move", ...at("src/a", "b") }, "refused"],
  [
    "a difference out of scope, whatever the kind",
    { kind: "other", content: [{ type: "diff", path: "a", newText: "" }] },
    "refused",
  ],
  [
    "an edit that names its path in what it was given only",
    { kind: "edit", rawInput: { file_path: "/etc/passwd", content: "x" } },
    "refused",
  ],
  [
    "the same inside and in scope",
    { kind: "edit", rawInput: { filePath: "src/a", content: "/etc/passwd\n" } },
    "allowed",
  ],
  ["an edit that names nothing", { kind: "edit" }, "allowed"],
  ["a read inside, out of scope", { kind: "read", ...at("docs/a.md") }, "allowed"],
  ["a read outside", { kind: "read", ...at("/etc/shadow") }, "refused"],
  ["a command, wherever", { kind: "execute", ...at("/tmp") }, "allowed"],
  ["a fetch", { kind: "fetch" }, "refused"],
  ["a tool of no kind", {}, "allowed"],
])("%s", (_, update, expected) => {
  expect(judged(update) === "allowed" ? "allowed" : "refused").toBe(expected);
});

test("a fetch is allowed where a host may be reached", () => {
  expect(judged({ kind: "fetch" }, { mayFetch: true })).toBe("allowed");
});

test("a call that is not understood names nothing", () => {
  expect(judgeCall(null, rules)).toBe("allowed");
});

test("answers are counted, and the first refusals are told", () => {
  const answers = new PermissionAnswers();
  answers.add("allowed");
  for (let n = 0; n < 7; n += 1) answers.add("refused", `path ${n}`);
  expect(answers.count).toEqual({ allowed: 1, refused: 7, cancelled: 0 });
  expect(answers.warnings()).toEqual([
    expect.stringMatching(/^7 requests .*path 0; .*path 4; and 2 more$/),
  ]);

  expect(new PermissionAnswers().warnings()).toEqual([]);
  const single = new PermissionAnswers();
  single.add("refused", "path 0");
  expect(single.warnings()).toEqual(["1 request for permission was refused: path 0"]);
});

test("calls left open are closed in our records", () => {
  const calls = new ToolCalls();
  calls.merge({ toolCallId: "a", title: "sleep", status: "in_progress" });
  calls.merge({ toolCallId: "b", status: "completed" });
  expect(calls.closeOpen().map(({ title }) => title)).toEqual(["sleep"]);
  expect(calls.hasOpen()).toBe(false);
});
