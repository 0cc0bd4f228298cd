// What a check finds around it: the user's shell and the config's variables, and nothing that says
// who runs it.

import { chmodSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { autopilot, eventsOf, goScripted, runFolderOf, scripted } from "../support/autopilot.ts";
import { scratch, write } from "../support/scratch-repository.ts";
import { hasBoxes } from "../workspace/boxed.ts";

const turns = [
  { do: [{ write: { path: "b.txt", text: "b\n" } }, { say: "<promise>DONE</promise>" }] },
];
const manifest = (test: string, more: object = {}): string =>
  JSON.stringify({ name: "scratch", version: "1.0.0", scripts: { test }, ...more });
type Proof = {
  readonly check: { readonly id: string; readonly command: string };
  readonly evidence: string;
};

test("a check sees the user's shell and checks.env, no mark of ours, and a criterion that repeats it is the same check", async () => {
  const folder = scratch({ files: { "package.json": manifest("env") } });
  write(folder, {
    ".autopilot/config.yaml":
      "version: 1\nchecks: { env: { APP_GREETING: hello, RUSTUP_TOOLCHAIN: mine, NODE_OPTIONS: --inspect } }\n",
  });

  const args = ["--done-criteria", "the tests pass :: npm test"];
  const { json } = await goScripted(folder, turns, args, { env: { TERM: "vt220" } });
  expect(json.state).toBe("completed"); // with a gap: a check that prints its environment can never fail
  expect(json.warnings.join("\n")).toMatch(
    /checks\.env\.RUSTUP_TOOLCHAIN[^]*checks\.env\.NODE_OPTIONS/,
  );

  const proved = eventsOf(folder, "step_completed").find(({ attempt }) =>
    String(attempt).includes("/prove#"),
  );
  const checks = (proved?.["checks"] ?? []) as readonly Proof[];
  expect(checks.map(({ check }) => [check.id, check.command])).toEqual([
    ["criterion:c1", "npm test"],
  ]);

  const evidence = checks[0]?.evidence ?? "";
  const { output_excerpt } = JSON.parse(
    readFileSync(join(runFolderOf(folder), "blobs", evidence.slice(0, 2), evidence), "utf8"),
  ) as {
    readonly output_excerpt: string;
  };
  const lines = output_excerpt.split("\n");
  expect(lines).toEqual(expect.arrayContaining(["APP_GREETING=hello", "TERM=vt220"])); // so the environment was really printed
  expect(
    lines.filter((line) =>
      /^(AUTOPILOT_|CI=|NO_COLOR=|NODE_OPTIONS=|RUSTUP_TOOLCHAIN=)/.test(line),
    ),
  ).toEqual([]);

  expect(lines.filter((line) => /^(HOME|TMPDIR)=.*autopilot/.test(line))).toEqual([]);
});

test.skipIf(!hasBoxes).each(["overlay", "bwrap"])(
  "%s: a check runs at the path of the user's checkout, where scripts of a virtual environment find themselves (needs bubblewrap)",
  async (level) => {
    const folder = scratch({ files: { ".gitignore": ".venv/\n" } });
    write(folder, { ".venv/bin/tool": `#!${folder}/.venv/bin/shell\n` });
    symlinkSync("/bin/sh", join(folder, ".venv/bin/shell"));
    chmodSync(join(folder, ".venv/bin/tool"), 0o755);
    const asks = `.venv/bin/tool && test "$(pwd)" = '${folder}' && ! env | grep -e '[.]autopilot' -e '^GIT_' && test -f b.txt`;

    const { json } = await goScripted(folder, turns, [
      "--isolation",
      level,
      "--done-criteria",
      `b is there :: ${asks}`,
    ]);
    expect(json.state).toBe("completed"); // with a gap: some of what it asks for was there before
  },
);

test("a tool that is missing is named by the preview and by doctor, with the command that installs it", async () => {
  const folder = scratch({
    files: { "package.json": manifest("vitest run", { devDependencies: { vitest: "4" } }) },
  });

  const { json } = await autopilot(folder, [
    "start",
    "make b",
    "--json",
    ...scripted(folder, turns),
  ]);

  const missing = { name: "node_modules", needed_by: ["npm run test"], install: "npm install" };
  expect(json["preview"]).toMatchObject({ missing_tools: [missing], check_env: [] });
  expect(json.warnings).toContain(
    "Missing: node_modules, which npm run test needs; get it with: npm install",
  );

  const { json: found } = await autopilot(folder, ["doctor", "--json"]);
  expect(found["findings"]).toContainEqual({
    name: "node_modules",
    ok: false,
    found: "missing, and npm run test needs it",
    fix: "npm install",
  });

  expect(found.remediation).toContain("npm install");
});
