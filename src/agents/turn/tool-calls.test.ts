import { expect, test } from "vitest";
import { createInLayerTest } from "./path-in-layer.ts";
import { toPermissionResponse } from "../acp/permission.ts";
import { toLiveEvent, ToolCalls } from "./tool-calls.ts";

const isInside = createInLayerTest("/srv/layer");

test("updates are merged by id, and lists replace", () => {
  const calls = new ToolCalls();
  calls.merge({
    toolCallId: "a",
    title: "edit",
    kind: "edit",
    status: "pending",
    locations: [{ path: "/etc/a" }],
  });

  expect(calls.hasOpen()).toBe(true);
  calls.merge({ toolCallId: "a", status: "completed", locations: [{ path: "/etc/b" }] });
  expect(calls.hasOpen()).toBe(false);
  expect(calls.listChangedOutside(isInside)).toEqual(["/etc/b"]);
});

test("only what changes counts, and only if it did not fail", () => {
  const calls = new ToolCalls();
  calls.merge({
    toolCallId: "read",
    kind: "read",
    status: "completed",
    locations: [{ path: "/etc/read" }],
  });

  calls.merge({
    toolCallId: "failed",
    kind: "edit",
    status: "failed",
    locations: [{ path: "/etc/failed" }],
  });

  calls.merge({
    toolCallId: "diff",
    status: "completed",
    content: [{ type: "diff", path: "/etc/diff", newText: "" }],
  });

  calls.merge({
    toolCallId: "move",
    kind: "move",
    status: "completed",
    locations: [{ path: "a" }, { path: "/srv/layer/b" }, { path: "../c" }],
  });

  expect(calls.listChangedOutside(isInside)).toEqual(["/etc/diff", "../c"]);
});

test("a call passes by with its id, what it does and the first path it names", () => {
  const calls = new ToolCalls();
  const call = calls.merge({
    toolCallId: "a",
    title: "edit a",
    kind: "edit",
    status: "pending",
    locations: [{ path: "src/a.ts" }, { path: "b" }],
  });

  const reported = {
    signal: "tool",
    attempt: "1@1/do#1",
    title: "edit a",
    call: "a",
    kind: "edit",
    path: "src/a.ts",
  };

  expect(call === null ? null : toLiveEvent("1@1/do#1", call)).toEqual({
    ...reported,
    status: "pending",
  });

  expect(call === null ? null : toLiveEvent("1@1/do#1", call, "cancelled")).toEqual({
    ...reported,
    status: "cancelled",
  });

  const plain = calls.merge({ toolCallId: "b", title: "think" });
  expect(plain === null ? null : toLiveEvent("1@1/do#1", plain)).toEqual({
    signal: "tool",
    attempt: "1@1/do#1",
    title: "think",
    status: "pending",
    call: "b",
  });
});

test("nonsense is not merged", () => {
  const calls = new ToolCalls();
  expect(calls.merge({})).toBe(null);
  expect(calls.merge({ toolCallId: 7 })).toBe(null);
  expect(
    calls.merge({ toolCallId: "x", locations: [null, 3, {}], content: ["y"], kind: 9 }),
  ).toMatchObject({
    kind: null,
    locationPaths: [],
    diffPaths: [],
  });
});

test.each([
  ["a", true],
  ["/srv/layer", true],
  ["/srv/layer/a/../b", true],
  ["..a", true],
  ["/srv/layer2/a", false],
  ["../a", false],
  ["/", false],
  ["/srv/layer/../a", false],
])("%s lies inside: %o", (path, expected) => {
  expect(isInside(path)).toBe(expected);
});

const option = (kind: "allow_once" | "allow_always" | "reject_once" | "reject_always") => ({
  kind,
  optionId: `the ${kind}`,
  name: "Yes",
});

test("permission is given by kind, once rather than always", () => {
  const all = [
    option("allow_always"),
    option("reject_always"),
    option("allow_once"),
    option("reject_once"),
  ];
  expect(toPermissionResponse(all, "allowed")).toEqual({
    outcome: { outcome: "selected", optionId: "the allow_once" },
  });

  expect(toPermissionResponse(all, "refused")).toEqual({
    outcome: { outcome: "selected", optionId: "the reject_once" },
  });

  expect(toPermissionResponse(all, "cancelled")).toEqual({ outcome: { outcome: "cancelled" } });
  expect(toPermissionResponse([option("allow_always")], "allowed")).toEqual({
    outcome: { outcome: "selected", optionId: "the allow_always" },
  });

  expect(toPermissionResponse([option("allow_always")], "refused")).toEqual({
    outcome: { outcome: "cancelled" },
  });

  expect(toPermissionResponse([], "allowed")).toEqual({ outcome: { outcome: "cancelled" } });
});
