// The commands that set up and describe: init, doctor, flow, agents, schema, completions and help.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { autopilot, scripted } from "../support/autopilot.ts";
import { fingerprint } from "../support/fingerprint.ts";
import { scratch } from "../support/scratch-repository.ts";
import { criterion, makesOut, objective } from "./stories.ts";

const folder = scratch();
beforeAll(async () => {
  await autopilot(folder, ["go", ...objective(folder, makesOut), "--yes"]);
});

describe("setting up", () => {
  test("init writes a slash command for each agent whose folder is there, and touches none that exists", async () => {
    const here = scratch({ files: { ".claude/settings.json": "{}\n", ".opencode/command/autopilot.md": "mine\n" } });
    const { json } = await autopilot(here, ["init", "--json"]);
    expect(json["done"]).toContain("wrote .claude/commands/autopilot.md");
    expect(readFileSync(join(here, ".claude/commands/autopilot.md"), "utf8")).toContain("autopilot $ARGUMENTS");
    expect(readFileSync(join(here, ".opencode/command/autopilot.md"), "utf8")).toBe("mine\n");
    expect(existsSync(join(here, ".gemini"))).toBe(false);
  });
  test("init writes config and ignore lines once, and changes nothing the second time", async () => {
    const here = scratch();
    const first = await autopilot(here, ["init", "--json"]);
    expect({ code: first.code, result: first.json.result }).toEqual({ code: 0, result: "PASS" });
    expect(readFileSync(join(here, ".git/info/exclude"), "utf8")).toContain(".autopilot/*\n!.autopilot/config.yaml\n!.autopilot/flows/\n");
    expect((await autopilot(here, ["validate", ".autopilot/config.yaml", "--json"])).code).toBe(0);
    writeFileSync(join(here, ".autopilot/config.yaml"), "version: 1\nagent: mine\n");
    const before = fingerprint(here, { without: [".git/index"] });
    const again = await autopilot(here, ["init", "--json"]);
    expect(again.json["done"]).toEqual([]);
    expect(fingerprint(here, { without: [".git/index"] })).toBe(before);
    await autopilot(here, ["init", "--gitignore", "--json"]);
    await autopilot(here, ["init", "--gitignore", "--json"]);
    expect(
      readFileSync(join(here, ".gitignore"), "utf8")
        .split("\n")
        .filter((line) => line === ".autopilot/*"),
    ).toHaveLength(1);
  });

  test("doctor looks at node, git, repository, config and isolation, and changes nothing", async () => {
    const here = scratch();
    const before = fingerprint(here, { without: [".git/index"] });
    const { json } = await autopilot(here, ["doctor", "--json"]);
    expect((json["findings"] as { name: string }[]).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["node", "git", "repository", "config"]),
    );
    expect((json["findings"] as { name: string }[]).some(({ name }) => name.startsWith("isolation "))).toBe(true);
    expect(fingerprint(here, { without: [".git/index"] })).toBe(before);
  });

  test("flow list, show, lint and detect answer, and a flow of the user's own is among them", async () => {
    const here = scratch({
      files: {
        "a.txt": "a\n",
        ".autopilot/flows/mine/flow.yaml":
          'flow: mine\nversion: 1\nlands_nothing: true\nphases:\n  - id: "1"\n    steps:\n      - { id: work, agent: worker, prompt: work.md, otherwise: [{ pause: phase_failed, again: true }] }\n      - { id: prove, check: [criteria], otherwise: [{ pause: phase_failed, again: true }] }\n',
        ".autopilot/flows/mine/prompts/work.md": "Do {{goal}}.\n",
      },
    });
    const listed = (await autopilot(here, ["flow", "list", "--json"])).json["flows"] as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(["objective", "mine"]));
    const shown = await autopilot(here, ["flow", "show", "mine", "--json"]);
    expect(shown.json["flow"]).toMatchObject({ flow: "mine" });
    const linted = await autopilot(here, ["flow", "lint", "--json"]);
    expect({ code: linted.code, findings: linted.json["findings"] }).toEqual({ code: 0, findings: [] });
    expect((await autopilot(here, ["flow", "detect", "--json"])).json["flow"]).toBe("greenfield");
    expect((await autopilot(here, ["flow", "show", "nobodys", "--json"])).json.reason_code).toBe("flow_missing");
  });

  test("agents lists the embedded one, and agents try plays one harmless turn", async () => {
    const { json } = await autopilot(folder, ["agents", "--json"]);
    expect((json["agents"] as { name: string }[]).map(({ name }) => name)).toContain("scripted");
    const [, player = ""] = scripted(folder, [{ do: [{ say: "hello there" }] }], "hello");
    const tried = await autopilot(folder, ["agents", "try", player, "--json"]);
    expect({ code: tried.code, said: tried.json["said"] }).toEqual({ code: 0, said: "hello there" });
    expect((await autopilot(folder, ["agents", "try", "nobody", "--json"])).json.reason_code).toBe("agent_unavailable");
  });

  test("schema names every schema there is and gives each, and completions and help answer", async () => {
    const names = (await autopilot(folder, ["schema", "--json"])).json["schemas"] as string[];
    expect(names).toEqual(expect.arrayContaining(["status", "report", "journal", "config", "flow", "script", "objective", "reason-codes"]));
    for (const name of names)
      expect(Object.keys((await autopilot(folder, ["schema", name, "--json"])).json["schema"] as object).length, name).toBeGreaterThan(0);
    for (const shell of ["bash", "zsh", "fish"]) expect((await autopilot(folder, ["completions", shell])).out).toContain("autopilot");
    for (const words of [["help"], ["help", "go"], ["go", "--help"], ["--help"], ["budget", "raise", "--help"]]) {
      const { code, out, err } = await autopilot(folder, words);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain("Usage: autopilot");
    }
    expect((await autopilot(folder, ["--version"])).out).toMatch(/^autopilot \d+\.\d+\.\d+\n$/);
  });

  test("slash commands may be typed as they are: /autopilot status", async () => {
    expect((await autopilot(folder, ["/autopilot", "status", "--json"])).json.state).toBe("completed");
  });

  test("a run that used the criterion of another goal is not confused with it", async () => {
    const { json } = await autopilot(folder, [
      "go",
      "again",
      ...criterion,
      "--isolation",
      "clone",
      ...scripted(folder, [{ do: [{ say: "<promise>DONE</promise>" }] }]),
      "--yes",
      "--json",
    ]);
    expect({ result: json.result, verdict: json["verdict"] }).toEqual({ result: "WARN", verdict: "verified_with_gaps" });
  });
});
