// What a shell has open when it starts autopilot (`exec 40<folder`, a lock file) would be a way out
// of any sandbox: a folder that is open needs no path. Nobody that autopilot starts gets it.

import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { environmentIn, program, scripted } from "../support/autopilot.ts";
import { git, scratch, scratchFolder, write } from "../support/scratch-repository.ts";

test("a descriptor that the user's shell had open does not reach an agent", () => {
  const folder = scratch();
  const secret = scratchFolder();
  write(secret, { "secret.txt": "s\n" });
  const look = "ls /proc/self/fd/240/ 2>/dev/null | tr -d '\\n'";

  const within = (command: string) =>
    spawnSync("bash", ["-c", `exec 240<"$0"; ${command}`, secret], {
      cwd: folder,
      env: environmentIn(folder),
      encoding: "utf8",
    });
  expect(within(look).stdout, "the control: without autopilot it is there").toBe("secret.txt");

  const turns = [
    {
      do: [{ run: `printf '[%s]' "$(${look})" > b` }, { say: "<promise>DONE</promise>" }],
      confidence: 0.9,
    },
  ];

  const args = [
    "go",
    "make b",
    "--yes",
    "--json",
    "--done-criteria",
    "b is there :: test -f b",
    "--isolation",
    "clone",
  ];
  const all = [process.execPath, program, ...args, ...scripted(folder, turns)].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );

  const { stdout } = within(all.join(" "));
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({ result: "PASS" });
  expect(git(folder, "show", "main:b")).toBe("[]");
});
