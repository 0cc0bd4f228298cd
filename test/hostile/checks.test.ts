// Poisoned checks: an agent that cannot pass a check makes everything round it lie. Run in its own
// folder the check then passes; run by the product it does not, because a check gets its own
// folder, its own HOME and the user's own packages.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseIsolation } from "../../src/workspace/isolation/isolation.ts";
import { eventsOf, goScripted, runFolderOf } from "../support/autopilot.ts";
import { aFew, sampled } from "../support/sampled.ts";
import { wholeCheckout } from "../support/whole-checkout.ts";
import { checkedOnce, scratch, scratchFolder, write } from "../support/scratch-repository.ts";

const auto = await chooseIsolation("auto", { hidden: [], runDir: scratchFolder() });
const levels = ["clone", ...("isolation" in auto ? [auto.isolation.level] : [])];

const honestTool = "#!/bin/sh\ngrep -q right src/answer.txt\n";
const lyingTool = "printf '#!/bin/sh\\nexit 0\\n'";
const files = {
  "package.json": JSON.stringify({ name: "x", private: true, scripts: { test: "tool" } }),
  "check.sh": "grep -q right src/answer.txt\n",
  "src/answer.txt": "wrong\n",
  ".gitignore": "node_modules/\n.envrc\n",
};

type Poison = {
  readonly name: string;
  readonly run: string;
  readonly check: string;
  /** How the agent itself would see its check pass. */ readonly env?: (
    layer: string,
  ) => Record<string, string>;
};
const poisons: readonly Poison[] = [
  {
    name: "puts a lying program into node_modules/.bin",
    run: `${lyingTool} > node_modules/.bin/tool`,
    check: "npm test",
  },
  {
    name: "puts a lying grep before the machine's own on the PATH of its HOME's profile",
    run: `mkdir -p "$HOME/bin" node_modules/lies && ${lyingTool} > "$HOME/bin/grep" && chmod +x "$HOME/bin/grep" && cp "$HOME/bin/grep" node_modules/lies/grep && echo 'PATH=$HOME/bin:$PATH' > "$HOME/.profile"`,
    check: "sh check.sh",
    env: (layer) => ({ PATH: `${layer}/node_modules/lies:${process.env["PATH"] ?? ""}` }),
  },
  {
    name: "leaves npm settings that replace the shell",
    run: `${lyingTool} > node_modules/shell && chmod +x node_modules/shell && echo "script-shell=$PWD/node_modules/shell" > "$HOME/.npmrc" && cp "$HOME/.npmrc" node_modules/npmrc`,
    check: "npm test",
    env: (layer) => ({ npm_config_userconfig: `${layer}/node_modules/npmrc` }),
  },
  {
    name: "leaves variables for whoever enters the folder",
    run: `${lyingTool} > node_modules/.bin/grep && chmod +x node_modules/.bin/grep && echo 'export PATH=$PWD/node_modules/.bin:$PATH GIT_DIR=/nowhere LD_PRELOAD=/nowhere.so' > .envrc`,
    check: "sh check.sh",
    env: (layer) => ({ PATH: `${layer}/node_modules/.bin:${process.env["PATH"] ?? ""}` }),
  },
];

describe.concurrent.each(levels)("at level %s", (level) => {
  // Most at the level that a user gets; where nothing is held one.
  const played = sampled(level === levels.at(-1) ? 2 : 1, poisons);
  test.each(played)("an agent that $name does not pass its check", async ({ run, check, env }) => {
    const folder = checkedOnce(scratch({ files }));
    write(folder, { "node_modules/.bin/tool": honestTool });

    const args = [
      "--scope",
      "src/**",
      "--done-criteria",
      `the answer is right :: ${check}`,
      "--isolation",
      level,
      "--max-cycles",
      "1",
    ];

    const tried = { run: `${run} && touch src/tried.txt` };
    const { json } = await goScripted(
      folder,
      [{ do: [tried, { say: "<promise>DONE</promise>" }], repeat: 0 }],
      args,
    );
    expect(json.state).not.toBe("completed");
    // It did poison what it could, and only its honest file was applied.
    expect(eventsOf(folder, "changes_applied").flatMap(({ paths }) => paths)).toEqual([
      "src/tried.txt",
    ]);

    const failed = eventsOf(folder, "step_failed").filter(
      ({ reason_code }) => reason_code === "criterion_failed",
    );
    expect(failed.length).toBeGreaterThan(0);

    // The control: in the agent's own folder, with what it left there, the same check passes.
    const layers = join(runFolderOf(folder), "layers");
    const left =
      readdirSync(layers)
        .map((name) => join(layers, name))
        .at(-1) ?? "";
    const layer = wholeCheckout(runFolderOf(folder), left);
    const inside = spawnSync("/bin/sh", ["-c", check], {
      cwd: layer,
      env: { PATH: process.env["PATH"], HOME: scratchFolder(), ...env?.(layer) },
    });
    expect(inside.status, `${inside.stdout.toString()}${inside.stderr.toString()}`).toBe(0);
  });

  aFew(1).each(["node_modules/.bin/tool", "cache/tool"])(
    "a check that writes a lying program to %s deceives no other check",
    async (tool) => {
      const folder = checkedOnce(
        scratch({
          files: {
            ...files,
            ".gitignore": "node_modules/\ncache/\n",
            "say.sh": "true\n",
            "src/answer.txt": "right\n",
          },
        }),
      );
      write(folder, { "node_modules/.bin/tool": honestTool });
      const judge = `test -f ${tool} || { mkdir -p cache && cp node_modules/.bin/tool cache/tool; }; sh ${tool}`;

      const criteria = [
        "--done-criteria",
        "it speaks :: sh say.sh | grep -q hello",
        "--done-criteria",
        `the answer stays right :: ${judge}`,
      ];

      const lie = `echo wrong > src/answer.txt && printf 'mkdir -p cache; echo "exit 0" > ${tool}; echo hello\\n' > say.sh`;
      const args = [
        "--scope",
        "src/**,say.sh",
        ...criteria,
        "--isolation",
        level,
        "--max-cycles",
        "1",
      ];

      const { json } = await goScripted(
        folder,
        [{ do: [{ run: lie }, { say: "<promise>DONE</promise>" }], repeat: 0 }],
        args,
      );
      expect(json.state).not.toBe("completed");
      const control = spawnSync("sh", ["-c", `${lie}; sh say.sh | grep -q hello && ${judge}`], {
        cwd: folder,
      });
      expect(control.status).toBe(0); // in one folder the second one is deceived
    },
  );

  // Its scope is the same at every level.
  test.runIf(level === levels.at(-1))(
    "an agent that rewrites the check's own script outside its scope has nothing applied",
    async () => {
      const folder = scratch({ files });
      write(folder, { "node_modules/.bin/tool": honestTool });

      const args = [
        "--scope",
        "src/**",
        "--done-criteria",
        "the answer is right :: npm test",
        "--isolation",
        level,
      ];

      const rewrite = { run: `sed -i 's/"tool"/"true"/' package.json && touch src/tried.txt` };
      const { json } = await goScripted(
        folder,
        [{ do: [rewrite, { say: "<promise>DONE</promise>" }], repeat: 0 }],
        args,
      );
      expect(json).toMatchObject({ reason_code: "scope_violation_blocked", state: "paused" });
      expect(eventsOf(folder, "changes_applied")).toEqual([]);
    },
  );
});
