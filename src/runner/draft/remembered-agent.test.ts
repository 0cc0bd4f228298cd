import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { askForAgent, rememberedAgentPath } from "./remembered-agent.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { commandContext } from "../../../test/support/command-context.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "chosen-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Somebody at a terminal who answers so, and how often they were asked. */
function person(
  answer: string | null,
  isTerminal = true,
): { readonly context: CommandContext; readonly asked: string[] } {
  const asked: string[] = [];
  const ask = (question: string, choices: readonly string[]): Promise<string | null> => {
    asked.push(`${question} ${choices.join("/")}`);
    return Promise.resolve(answer);
  };

  return { context: commandContext({ cwd: home, env: { HOME: home }, isTerminal, ask }), asked };
}
const path = (): string => rememberedAgentPath({ HOME: home });

test("of two agents one is asked for once on a terminal, and remembered in the user's state, not in the project", async () => {
  const { context, asked } = person("codex");
  expect(await askForAgent(context, ["claude", "codex"])).toEqual({
    name: "codex",
    isRemembered: false,
  });

  expect(asked).toEqual(["Several agents are installed here. Which one should work? claude/codex"]);
  expect(await askForAgent(context, ["claude", "codex"])).toEqual({
    name: "codex",
    isRemembered: true,
  });

  expect(asked).toHaveLength(1);
  expect(readFileSync(path(), "utf8")).toBe("codex\n");
});

test("nobody is asked where there is no terminal, and no answer remembers nothing", async () => {
  const away = person("codex", false);
  expect(await askForAgent(away.context, ["claude", "codex"])).toBeNull();
  expect(away.asked).toEqual([]);
  expect(await askForAgent(person(null).context, ["claude", "codex"])).toBeNull();
  expect(existsSync(path())).toBe(false);
});

test("an agent that is gone is asked for anew; a link or a long file is no choice", async () => {
  mkdirSync(dirname(path()), { recursive: true });
  writeFileSync(path(), "gemini\n");
  expect(await askForAgent(person("claude").context, ["claude", "codex"])).toEqual({
    name: "claude",
    isRemembered: false,
  });

  rmSync(path());
  writeFileSync(join(home, "elsewhere"), "codex\n");
  symlinkSync(join(home, "elsewhere"), path());
  expect(await askForAgent(person(null).context, ["claude", "codex"])).toBeNull();
});
