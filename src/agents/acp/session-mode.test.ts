import { expect, test } from "vitest";
import { chooseSettings } from "./session-mode.ts";

const modes = {
  currentModeId: "default",
  availableModes: [{ id: "default" }, { id: "acceptEdits" }],
};
const configOptions = [
  {
    id: "how",
    category: "mode",
    currentValue: "ask",
    options: [{ value: "ask" }, { value: "auto" }],
  },
  {
    id: "llm",
    category: "model",
    currentValue: "small",
    options: [{ name: "All", options: [{ value: "small" }, { value: "big" }] }],
  },
];
const want = (mode: object, model = "", modelOption: string | null = null) => ({
  mode,
  model,
  modelOption,
});

test.each<[string, object, ReturnType<typeof want>, readonly object[], number]>([
  [
    "a mode that is offered",
    { modes },
    want({ session: "acceptEdits" }),
    [{ method: "session/set_mode", modeId: "acceptEdits" }],
    0,
  ],
  ["the mode it is in", { modes }, want({ session: "default" }), [], 0],
  [
    "a mode that is not offered: no other is taken",
    { modes },
    want({ session: "bypassPermissions" }),
    [],
    1,
  ],
  ["a mode where none are offered", {}, want({ session: "yolo" }), [], 1],
  [
    "a mode that is an option",
    { configOptions },
    want({ session: "auto" }),
    [{ configId: "how", value: "auto" }],
    0,
  ],
  [
    "an option by its id",
    { configOptions },
    want({ options: { how: "auto" } }),
    [{ configId: "how", value: "auto" }],
    0,
  ],
  ["an option with another value", { configOptions }, want({ options: { how: "never" } }), [], 1],
  ["an option that is not there", { configOptions }, want({ options: { allow_all: "on" } }), [], 1],
  [
    "a model, by category",
    { configOptions },
    want({}, "big", "model"),
    [{ configId: "llm", value: "big" }],
    0,
  ],
  ["a model that is not offered", { configOptions }, want({}, "huge", "model"), [], 1],
  ["a model named by words elsewhere", { configOptions }, want({}, "huge"), [], 0],
  ["nothing", { modes, configOptions }, want({}), [], 0],
  [
    "nonsense",
    { modes: 7, configOptions: [null, { options: "x" }] },
    want({ session: "a", options: { b: "c" } }),
    [],
    2,
  ],
])("%s", (_, offered, wanted, set, warnings) => {
  const found = chooseSettings(offered as Record<string, unknown>, wanted);
  expect(found.settings).toMatchObject(set);
  expect(found.settings).toHaveLength(set.length);
  expect(found.warnings).toHaveLength(warnings);
});
