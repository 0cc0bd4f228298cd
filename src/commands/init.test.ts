import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { init } from "./init.ts";
import type { CommandContext } from "../project/command-context.ts";
import { commandContext } from "../../test/support/command-context.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "init-"));
  const git = (...words: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...words], { cwd: root });
  git("init", "-q");
  writeFileSync(join(root, "package.json"), JSON.stringify({ scripts: { test: "x", lint: "y" } }));
  mkdirSync(join(root, ".claude"));
  git("add", "-A");
  git("commit", "-qm", "start");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const config = (): string => join(root, ".autopilot/config.yaml");

function person(answer: string | null): {
  readonly context: CommandContext;
  readonly shown: string[];
  readonly asked: string[];
} {
  const [shown, asked]: string[][] = [[], []];
  const ask = (question: string): Promise<string | null> => {
    asked?.push(question);
    return Promise.resolve(answer);
  };

  const show = (line: string): void => void shown?.push(line);
  const env = { PATH: "/usr/bin:/bin", HOME: root };
  return {
    context: commandContext({ cwd: root, env, isTerminal: true, show, showLive: show, ask }),
    shown: shown ?? [],
    asked: asked ?? [],
  };
}

test("init shows the checks and agents it found and asks before it writes", async () => {
  const { context, shown, asked } = person("no");
  expect(await init(context, {})).toMatchObject({
    result: "PASS",
    message: "Nothing was written.",
  });

  expect(shown).toEqual(["Agents  none installed", "Checks  npm run lint, npm run test"]);
  expect(asked).toEqual(["Write .autopilot/config.yaml, .autopilot/schemas, .claude/skills?"]);
  expect([existsSync(config()), existsSync(join(root, ".claude/skills"))]).toEqual([false, false]);

  await init(person("y").context, {});
  expect(readFileSync(config(), "utf8")).toContain(
    "# Checks found in this project, run without being named here: npm run lint, npm run test\n",
  );

  expect(existsSync(join(root, ".claude/skills/autopilot/SKILL.md"))).toBe(true);
});

test("with --yes and away from a terminal nobody is asked", async () => {
  const { context, asked } = person("no");
  await init(context, { yes: true });
  expect([existsSync(config()), asked.length]).toEqual([true, 0]);
  rmSync(config());
  await init({ ...context, isTerminal: false }, {});
  expect([existsSync(config()), asked.length]).toEqual([true, 0]);
});

test("what was written is on the screen, and that nothing is left to write", async () => {
  const place = { ...person(null).context, isTerminal: false };
  expect((await init(place, {})).page?.at(-1)).toMatch(/^Done: wrote \.autopilot\/config\.yaml; /);
  expect((await init(place, {})).page?.at(-1)).toBe(
    "Nothing to write: everything is there already.",
  );
});

test.each([
  ["our folder", ".autopilot"],
  ["an agent's folder", ".claude/skills"],
  ["the ignore file", ".gitignore"],
])(
  "a link in the place of %s is not written through, and nothing is written at all",
  async (_what, path) => {
    const elsewhere = mkdtempSync(join(tmpdir(), "init-elsewhere-"));
    try {
      const target = path === ".gitignore" ? join(elsewhere, "file") : elsewhere;
      if (path === ".gitignore") writeFileSync(target, "");
      symlinkSync(target, join(root, path));
      const { context } = person("y");
      expect(await init(context, { gitignore: true, yes: true })).toMatchObject({
        result: "FAIL",
        reason_code: "workspace_unusable",
      });

      expect(
        readdirSync(elsewhere).map((name) => readFileSync(join(elsewhere, name), "utf8")),
      ).toEqual(path === ".gitignore" ? [""] : []);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  },
);

test("a link that leads nowhere makes no file where it leads", async () => {
  const target = join(tmpdir(), `init-nowhere-${process.pid}`);
  mkdirSync(join(root, ".autopilot"));
  symlinkSync(target, config());
  await init(person("y").context, { yes: true });
  expect(existsSync(target)).toBe(false);
});

test("editors find the schemas beside the config by a relative path; they are renewed, and a link in their place is refused", async () => {
  const place = { ...person(null).context, isTerminal: false };
  await init(place, {});
  const named =
    /^# yaml-language-server: \$schema=(.+)$/m.exec(readFileSync(config(), "utf8"))?.[1] ?? "";
  const schema = join(root, ".autopilot", named);
  expect(JSON.parse(readFileSync(schema, "utf8"))).toMatchObject({
    properties: { agent: { description: expect.stringContaining("Who works") as string } },
  });

  writeFileSync(schema, "{}");
  expect((await init(place, {})).message).toBe("Done: wrote .autopilot/schemas.");
  expect(readFileSync(schema, "utf8")).toContain("Who works");
  rmSync(schema);
  symlinkSync(join(root, "package.json"), schema);
  expect(await init(place, {})).toMatchObject({
    result: "FAIL",
    reason_code: "workspace_unusable",
  });

  expect(readFileSync(join(root, "package.json"), "utf8")).toContain("scripts");
});
