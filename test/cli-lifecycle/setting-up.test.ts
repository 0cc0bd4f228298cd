// The commands that set up and describe: init, doctor, flow, agents, schema, completions and help.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { autopilot, program, scripted } from "../support/autopilot.ts";
import { fingerprint } from "../support/fingerprint.ts";
import { scratch } from "../support/scratch-repository.ts";
import { criterion, makesOut, objective } from "./stories.ts";

const folder = scratch();
beforeAll(async () => {
  await autopilot(folder, ["go", ...objective(folder, makesOut), "--yes"]);
});

describe("setting up", () => {
  test("init writes skills for each agent whose folder is there, and touches none that exists", async () => {
    const here = scratch({
      files: {
        ".claude/settings.json": "{}\n",
        ".claude/skills/autopilot-report/SKILL.md": "mine\n",
      },
    });

    const { json } = await autopilot(here, ["init", "--json"]);
    expect(json["done"]).toContain("wrote skills to .claude/skills");
    expect(readFileSync(join(here, ".claude/skills/autopilot/SKILL.md"), "utf8")).toContain(
      "name: autopilot\n",
    );

    expect(readFileSync(join(here, ".claude/skills/autopilot-report/SKILL.md"), "utf8")).toBe(
      "mine\n",
    );

    expect(existsSync(join(here, ".agents"))).toBe(false);
  });

  test("skills install, list and remove answer in a project and for the user", async () => {
    const here = scratch();
    const home = join(dirname(here), "home");
    for (const [where, words] of [
      [here, []],
      [home, ["--user"]],
    ] as const) {
      const installed = await autopilot(here, ["skills", "install", ...words, "--json"]);
      expect({
        code: installed.code,
        written: (installed.json["written"] as string[]).length,
      }).toEqual({ code: 0, written: 12 });

      expect(existsSync(join(where, ".agents/skills/autopilot-start/SKILL.md"))).toBe(true);
      expect((await autopilot(here, ["skills", ...words])).out.match(/ installed$/gm)).toHaveLength(
        12,
      );

      expect(
        (await autopilot(here, ["skills", "remove", ...words, "--json"])).json["removed"],
      ).toHaveLength(12);

      expect([".agents", ".claude"].map((name) => existsSync(join(where, name)))).toEqual([
        false,
        false,
      ]);
    }
  });

  test("init writes config and ignore lines once, and changes nothing the second time", async () => {
    const here = scratch();
    const first = await autopilot(here, ["init", "--json"]);
    expect({ code: first.code, result: first.json.result }).toEqual({ code: 0, result: "PASS" });
    expect(readFileSync(join(here, ".git/info/exclude"), "utf8")).toContain(
      ".autopilot/*\n!.autopilot/config.yaml\n!.autopilot/flows/\n",
    );

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

  test("doctor looks at node, git, repository, config, disk and isolation, and changes nothing", async () => {
    const here = scratch();
    const before = fingerprint(here, { without: [".git/index"] });
    const { json } = await autopilot(here, ["doctor", "--json"]);
    expect((json["findings"] as { name: string }[]).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["node", "git", "repository", "config", "disk"]),
    );

    expect(
      (json["findings"] as { name: string }[]).some(({ name }) => name.startsWith("isolation ")),
    ).toBe(true);

    expect(fingerprint(here, { without: [".git/index"] })).toBe(before);
  });

  test("a file where the folder of runs belongs is told as what it is, by whoever looks there", async () => {
    const here = scratch();
    writeFileSync(join(here, ".autopilot"), "mine\n");

    for (const args of [
      ["status"],
      ["resume"],
      ["go"],
      ["start", "x", "--isolation", "clone", ...scripted(here, [])],
    ]) {
      const { code, json } = await autopilot(here, [...args, "--json"]);
      expect({ words: args[0], code, reason: json.reason_code }).toEqual({
        words: args[0],
        code: 1,
        reason: "workspace_unusable",
      });

      expect(json.message).toMatch(/^A file lies where a folder is needed: .*\.autopilot/);
      expect(json.remediation.join()).toContain("rename it");
    }

    const { json } = await autopilot(here, ["doctor", "--json"]);
    expect(json.message).toContain("folder");
    expect(readFileSync(join(here, ".autopilot"), "utf8")).toBe("mine\n");
  });

  test("the embedded agent without a script is told what it lacks, not that it is not there", async () => {
    const here = scratch();
    for (const args of [
      ["agents", "try", "scripted"],
      ["start", "x", "--agent", "scripted"],
    ]) {
      const { json } = await autopilot(here, [...args, "--json"]);
      expect(json.message).toBe("The agent scripted plays a script, and none is named.");
      expect(json.remediation[0]).toContain("scripted:FILE");
    }
  });

  test("doctor says for each means of isolation what it lacks, and which secrets cannot be told from ordinary text", async () => {
    const here = scratch();
    const bin = join(dirname(here), "bin");
    mkdirSync(bin);

    for (const name of ["git", "sh"]) {
      symlinkSync(
        execFileSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(),
        join(bin, name),
      );
    }

    const env = { PATH: bin, DB_PASSWORD: "hunter2", API_TOKEN: "Zx81kQ-vv02_Lm4ooP" };
    const { json } = await autopilot(here, ["doctor", "--json"], { env });
    const findings = json["findings"] as { name: string; found: string; fix: string }[];
    const fixOf = (level: string): string =>
      findings.find(({ name }) => name === `isolation ${level}`)?.fix ?? "";
    expect(fixOf("bwrap")).toMatch(
      /^install bubblewrap: apt install bubblewrap .*; or --isolation clone/,
    );

    expect(fixOf("landlock")).toMatch(/^install perl or python3/);
    expect(fixOf("srt"), "on Linux it needs bubblewrap, which is the stronger one by itself").toBe(
      fixOf("bwrap"),
    );

    expect(findings.find(({ name }) => name === "secrets")?.found).toMatch(
      /too short or too plain .*: DB_PASSWORD$/,
    );
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
    const listed = (await autopilot(here, ["flow", "list", "--json"])).json["flows"] as {
      name: string;
    }[];
    expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(["objective", "mine"]));
    const shown = await autopilot(here, ["flow", "show", "mine", "--json"]);
    expect(shown.json["flow"]).toMatchObject({ flow: "mine" });
    const linted = await autopilot(here, ["flow", "lint", "--json"]);
    expect({ code: linted.code, findings: linted.json["findings"] }).toEqual({
      code: 0,
      findings: [],
    });

    expect((await autopilot(here, ["flow", "detect", "--json"])).json["flow"]).toBe("greenfield");
    expect((await autopilot(here, ["flow", "show", "nobodys", "--json"])).json.reason_code).toBe(
      "flow_missing",
    );
  });

  test("agents lists the embedded one, and agents try plays one harmless turn", async () => {
    const { json } = await autopilot(folder, ["agents", "--json"]);
    expect((json["agents"] as { name: string }[]).map(({ name }) => name)).toContain("scripted");
    const [, player = ""] = scripted(folder, [{ do: [{ say: "hello there" }] }], "hello");
    const tried = await autopilot(folder, ["agents", "try", player, "--json"]);
    expect({ code: tried.code, said: tried.json["said"] }).toEqual({
      code: 0,
      said: "hello there",
    });

    expect((await autopilot(folder, ["agents", "try", "nobody", "--json"])).json.reason_code).toBe(
      "agent_unavailable",
    );
  });

  test("schema names every schema there is and gives each, and completions and help answer", async () => {
    const names = (await autopilot(folder, ["schema", "--json"])).json["schemas"] as string[];
    expect(names).toEqual(
      expect.arrayContaining([
        "status",
        "report",
        "journal",
        "config",
        "flow",
        "script",
        "objective",
        "reason-codes",
      ]),
    );

    for (const name of names) {
      expect(
        Object.keys((await autopilot(folder, ["schema", name, "--json"])).json["schema"] as object)
          .length,
        name,
      ).toBeGreaterThan(0);
    }

    for (const name of ["constructor", "__proto__", "valueOf", "cnfig"]) {
      const { code, json } = await autopilot(folder, ["schema", name, "--json"]);
      expect({ name, code }).toEqual({ name, code: 2 });
      expect(json.message).toContain(`There is no schema called ${name}.`);
    }

    for (const shell of ["bash", "zsh", "fish"]) {
      expect((await autopilot(folder, ["completions", shell])).out).toContain("autopilot");
    }

    for (const args of [
      ["help"],
      ["help", "go"],
      ["go", "--help"],
      ["--help"],
      ["budget", "raise", "--help"],
    ]) {
      const { code, out, err } = await autopilot(folder, args);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain("Usage: autopilot");
    }

    expect((await autopilot(folder, ["--version"])).out).toMatch(/^autopilot \d+\.\d+\.\d+\n$/);
  });

  test("bash completes commands, second words, flags, their values, and names that only this folder knows", async () => {
    const { out } = await autopilot(folder, ["completions", "bash"]);
    const lines = [
      "",
      "fl",
      "flow ",
      "flow lint obj",
      "go --isolation cl",
      "go --flow gre",
      "schema conf",
      "verdict 1 ",
      "-C /tmp statu",
      "go --holdo",
    ];

    const script = `autopilot() { ${process.execPath} ${program} "$@"; }
      ${out}
      while IFS= read -r line; do
        read -r -a COMP_WORDS <<< "autopilot $line"; [[ "$line" == *" " || -z "$line" ]] && COMP_WORDS+=("")
        COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _autopilot; echo "\${COMPREPLY[*]}"
      done`;
    const reported = execFileSync("bash", ["-c", script], {
      cwd: folder,
      input: `${lines.join("\n")}\n`,
      encoding: "utf8",
    }).split("\n");
    expect(reported[0]).toContain("go start roadmap");
    expect(reported.slice(1, -1)).toEqual([
      "fleet flow",
      "list show lint detect",
      "objective",
      "clone",
      "greenfield",
      "config",
      "pass fail issues_found",
      "status",
      "--holdout",
    ]);
  });

  test("slash commands may be typed as they are: /autopilot status", async () => {
    expect((await autopilot(folder, ["/autopilot", "status", "--json"])).json.state).toBe(
      "completed",
    );
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

    expect({ result: json.result, verdict: json["verdict"] }).toEqual({
      result: "WARN",
      verdict: "verified_with_gaps",
    });
  });
});
