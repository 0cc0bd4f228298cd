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
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
// @ts-expect-error The script is plain JavaScript: it runs before anything is built.
import { embeddedSkills as embeddedText } from "../../../scripts/embed-skills.mjs";
import type { CommandContext } from "../../project/command-context.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import { version } from "../../project/runs/product.ts";
import { embeddedSkills } from "./embedded.ts";
import { formerCommands } from "./former-commands.ts";
import { classifySkill, stampSkill } from "./skill-file.ts";
import { installSkills, listSkills, removeInstalledSkills } from "./skills.ts";

const repository = join(import.meta.dirname, "../../..");
const names = Object.keys(embeddedSkills);
let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "skills-"));
  execFileSync("git", ["init", "-q"], { cwd: root });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const place = (): CommandContext => commandContext({ cwd: root, env: { HOME: root }, user: "me" });
const at = (path: string): string => join(root, path);
const textAt = (path: string): string => readFileSync(at(path), "utf8");
const write = (path: string, text: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};

describe("the skills themselves", () => {
  test("what is bundled is what lies in plugin/skills; after a change run node scripts/embed-skills.mjs", () => {
    expect(readFileSync(join(import.meta.dirname, "embedded.ts"), "utf8")).toBe(
      (embeddedText as () => string)(),
    );

    expect(names).toEqual(readdirSync(join(repository, "plugin/skills")).sort());
  });

  test.each(names)("%s fits the Agent Skills format, stamped or not", (name) => {
    for (const text of [
      embeddedSkills[name] ?? "",
      stampSkill(embeddedSkills[name] ?? "", version),
    ]) {
      const [, front = "", body = ""] = text.split(/^---\n/m);
      const { metadata, ...fields } = parseYaml(front) as Record<string, unknown>;
      expect(fields["name"]).toBe(name);
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(String(fields["description"]).length).toBeLessThanOrEqual(1024);
      expect(String(fields["description"])).not.toMatch(/[<>]/);
      expect(Object.keys(fields).sort()).toEqual(
        [
          "description",
          "name",
          ...(name === "autopilot-answer" ? ["disable-model-invocation"] : []),
        ].sort(),
      );

      expect(Object.values(metadata as object).every((value) => typeof value === "string")).toBe(
        true,
      );

      expect(body.split("\n").length).toBeLessThan(500);
    }
  });

  test("every command that a skill names is there", async () => {
    const { commands } = await import("../../surfaces/cli/catalog.ts");
    const known = new Set(commands.map(({ name }) => name.split(" ")[0]));
    const named = Object.values(embeddedSkills).flatMap((text) =>
      [...text.matchAll(/`autopilot ([a-z]+)[ `]/g)].map((match) => match[1]),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  test("one plugin folder serves every agent: each manifest is of this version and leads to the same skills and server", () => {
    const json = (path: string): Record<string, unknown> =>
      JSON.parse(readFileSync(join(repository, path), "utf8")) as Record<string, unknown>;
    for (const path of [
      ".claude-plugin/plugin.json",
      ".codex-plugin/plugin.json",
      "plugin.json",
      "gemini-extension.json",
    ]) {
      const manifest = json(`plugin/${path}`);
      expect(manifest, path).toMatchObject({ name: "autopilot", version });
      expect([undefined, "./skills/"], path).toContain(manifest["skills"]);
    }

    const server = { autopilot: { command: "autopilot", args: ["mcp"] } };
    for (const path of [".mcp.json", "mcp.json", "gemini-extension.json"]) {
      expect(json(`plugin/${path}`)["mcpServers"], path).toEqual(server);
    }

    expect(json("plugin/.codex-plugin/plugin.json")["mcpServers"]).toBe("./.mcp.json");
    expect(json("plugin/plugin.json")["mcpServers"]).toBe("./mcp.json");
    const [claude, codex] = [
      json(".claude-plugin/marketplace.json"),
      json(".agents/plugins/marketplace.json"),
    ];
    expect(claude["plugins"]).toMatchObject([{ name: "autopilot", source: "./plugin" }]);
    expect(codex["plugins"]).toMatchObject([
      { name: "autopilot", source: { source: "local", path: "./plugin" } },
    ]);

    const shipped = json("package.json")["files"] as string[];
    expect(shipped).toEqual(expect.arrayContaining(["plugin", ".claude-plugin", ".agents"]));
  });
});

describe("a file in a skill's place", () => {
  const wanted = stampSkill('---\nname: a\nmetadata:\n  x: "y"\n---\n\nbody\n', "2.0.0");
  test.each([
    ["nothing", null, "absent"],
    ["the same", wanted, "current"],
    [
      "an older version's",
      stampSkill('---\nname: a\nmetadata:\n  x: "y"\n---\n\nold\n', "1.0.0"),
      "outdated",
    ],
    ["one changed character", wanted.replace("body", "bodY"), "edited"],
    ["a changed version", wanted.replace("2.0.0", "3.0.0"), "edited"],
    ["a line at the end", `${wanted}\n`, "edited"],
    ["somebody else's", "---\nname: a\n---\n", "foreign"],
    ["an empty file", "", "foreign"],
  ] as const)("%s", (_what, found, state) => {
    expect(classifySkill(found, wanted)).toBe(state);
  });
});

test("install writes every skill for all agents, twice changes nothing, and remove leaves nothing behind", async () => {
  expect(await installSkills(place(), {})).toMatchObject({
    result: "PASS",
    data: { written: { length: 2 * names.length } },
  });

  for (const folder of [".agents/skills", ".claude/skills"]) {
    expect(readdirSync(at(folder)).sort()).toEqual(names);
  }

  expect(textAt(".agents/skills/autopilot/SKILL.md")).toBe(
    textAt(".claude/skills/autopilot/SKILL.md"),
  );

  expect(await installSkills(place(), {})).toMatchObject({
    message: "Everything is there already.",
    data: { written: [] },
  });

  expect(await removeInstalledSkills(place(), {})).toMatchObject({
    result: "PASS",
    data: { removed: { length: 2 * names.length } },
  });

  expect(readdirSync(root)).toEqual([".git"]);
});

test("a file where a folder must be is named, and nothing is written", async () => {
  write(".claude", "a note of mine");
  for (const act of [installSkills, removeInstalledSkills, listSkills]) {
    expect(await act(place(), {})).toMatchObject({
      result: "FAIL",
      reason_code: "workspace_unusable",
      message: ".claude is a file, and a folder is expected there. Nothing was changed.",
    });
  }

  expect(existsSync(at(".agents"))).toBe(false);
});

test("an edited skill and a stranger's file of that name are neither overwritten nor removed, and that is said", async () => {
  write(".claude/skills/autopilot-status/SKILL.md", "somebody else's\n");
  await installSkills(place(), {});
  const edited = ".agents/skills/autopilot/SKILL.md";
  write(edited, `${textAt(edited)}\nAlways ask me first.\n`);
  const again = await installSkills(place(), {});
  expect(again).toMatchObject({ result: "WARN", reason_code: "skill_kept", data: { written: [] } });
  expect(again.warnings).toEqual([
    `${edited} is edited by you, so it was left alone.`,
    ".claude/skills/autopilot-status/SKILL.md is not autopilot's, so it was left alone.",
  ]);

  expect((await listSkills(place(), {})).page?.join("\n")).toMatch(
    /autopilot +edited by you[\s\S]*autopilot-status +not autopilot's/,
  );

  expect(await removeInstalledSkills(place(), {})).toMatchObject({
    result: "WARN",
    remediation: [`delete ${edited} yourself if it is of no use`],
    data: { kept: [edited] },
  });

  expect(textAt(edited)).toContain("Always ask me first.");
  expect(textAt(".claude/skills/autopilot-status/SKILL.md")).toBe("somebody else's\n");
});

test("a skill of an older version is updated, one that is a folder is refused before anything is written", async () => {
  write(
    ".claude/skills/autopilot/SKILL.md",
    stampSkill(embeddedSkills["autopilot"] ?? "", "0.0.1"),
  );

  expect((await installSkills(place(), {})).data?.["written"]).toContain(
    ".claude/skills/autopilot/SKILL.md",
  );

  rmSync(at(".agents"), { recursive: true });
  rmSync(at(".claude/skills/autopilot/SKILL.md"));
  mkdirSync(at(".claude/skills/autopilot/SKILL.md"));
  expect(await installSkills(place(), {})).toMatchObject({
    result: "FAIL",
    reason_code: "workspace_unusable",
  });

  expect(existsSync(at(".agents"))).toBe(false);
});

test("slash commands of earlier versions make room, edited ones stay", async () => {
  for (const { path, text } of formerCommands) {
    write(path, path.startsWith(".gemini") ? `${text}# mine\n` : text);
  }

  const { data } = await installSkills(place(), {});
  expect(data?.["replaced"]).toEqual([
    ".claude/commands/autopilot.md",
    ".opencode/command/autopilot.md",
  ]);

  expect([
    existsSync(at(".claude/commands")),
    existsSync(at(".gemini/commands/autopilot.toml")),
  ]).toEqual([false, true]);
});

test("links are not followed: one that leads elsewhere is refused, one that joins the two folders is the same folder", async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "skills-elsewhere-"));
  try {
    symlinkSync(elsewhere, at(".claude"));
    expect(await installSkills(place(), {})).toMatchObject({
      result: "FAIL",
      reason_code: "workspace_unusable",
    });

    expect([readdirSync(elsewhere), existsSync(at(".agents"))]).toEqual([[], false]);
    rmSync(at(".claude"));
    mkdirSync(at(".claude"));
    symlinkSync("../.agents/skills", at(".claude/skills"));
    mkdirSync(at(".agents/skills"), { recursive: true });
    expect(await installSkills(place(), {})).toMatchObject({
      result: "PASS",
      data: { written: { length: names.length } },
    });

    expect(existsSync(at(".claude/skills/autopilot/SKILL.md"))).toBe(true);
  } finally {
    rmSync(elsewhere, { recursive: true });
  }
});

test("without a home there is no place for skills of one's own", async () => {
  expect(await installSkills({ ...place(), env: {} }, { user: true })).toMatchObject({
    result: "FAIL",
    reason_code: "usage",
  });
});
