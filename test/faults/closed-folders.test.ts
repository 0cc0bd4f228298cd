// Folders that an agent or a check closed to their own owner: an ordinary user's run takes them
// away all the same.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { apart, runFolderOf, scripted } from "../support/autopilot.ts";
import { sampled } from "../support/sampled.ts";
import { checkedOnce, scratch, scratchFolder } from "../support/scratch-repository.ts";

const nobody = "65534";
const isRoot = process.getuid?.() === 0;
const asNobody = ["setpriv", "--reuid", nobody, "--regid", nobody, "--clear-groups", "--"];
/** Modes do not bind root, which therefore becomes an ordinary user. */
const mayBeOrdinary =
  !isRoot || spawnSync(asNobody[0] ?? "", [...asNobody.slice(1), "true"]).status === 0;

const files = {
  "README.md": "# closed\n",
  ".gitignore": "node_modules\n",
  "package.json": "{}\n",
  "package-lock.json": '{"lockfileVersion":3,"packages":{}}\n',
};
const everything =
  "mkdir -p q/r $HOME/k/l; chmod 000 q/r q $HOME/k; chmod 555 node_modules .; chmod 000 $HOME";

/** Of whoever these runs belong to: only the first of them has the program to compile. */
let cached = "";
function cache(): string {
  if (cached !== "") return cached;
  cached = scratchFolder();
  if (isRoot) execFileSync("chown", [`${nobody}:${nobody}`, cached]);

  return cached;
}

async function run(
  isolation: string,
  command: string,
  check: string,
  prepare: (folder: string) => void = () => undefined,
): Promise<{ readonly folder: string; readonly said: string }> {
  const folder = checkedOnce(scratch({ files }));
  mkdirSync(join(folder, "node_modules/x"), { recursive: true });
  const agent = scripted(folder, [
    { do: [{ run: `touch done.flag; ${command}` }, { say: "<promise>DONE</promise>" }], repeat: 0 },
  ]);

  const room = dirname(folder);
  for (const name of ["tmp", "home"]) mkdirSync(join(room, name), { recursive: true });
  chmodSync(room, 0o755);
  prepare(folder);
  if (isRoot) execFileSync("chown", ["-R", `${nobody}:${nobody}`, room]);

  const args = [
    "go",
    "close it",
    "--scope=**",
    `--done-criteria=x :: ${check}`,
    ...agent,
    "--yes",
    "--json",
    `--isolation=${isolation}`,
  ];

  const env = { TMPDIR: join(room, "tmp"), XDG_CACHE_HOME: cache() };
  const { json, err } = await apart(folder, args, { on: isRoot ? asNobody : [], env });
  return { folder, said: `${json.state} ${json.message} ${err}` };
}

/** What is left of the working folders. */
const leftIn = (folder: string): readonly string[] =>
  ["layers", "checks", "worlds", "apart", "home", "scratch", "trash"].flatMap((name) => {
    const path = join(runFolderOf(folder), name);
    return existsSync(path) ? readdirSync(path).map((below) => `${name}/${below}`) : [];
  });

for (const isolation of sampled(1, ["auto", "clone"])) {
  test.skipIf(!mayBeOrdinary)(
    `closed folders of checks and agents are taken away (isolation ${isolation})${mayBeOrdinary ? "" : " (skipped: root cannot become an ordinary user)"}`,
    async () => {
      const agents = everything.replace("q/r q ", "node_modules/x ");
      const { folder, said } = await run(
        isolation,
        agents,
        `test -f done.flag; is=$?; ${everything}; exit $is`,
      );
      expect(said).toMatch(/^completed/);
      expect(leftIn(folder)).toEqual([]);
    },
  );
}

test.skipIf(!mayBeOrdinary)(
  `a folder that an agent made unreadable is called that${mayBeOrdinary ? "" : " (skipped: root cannot become an ordinary user)"}`,
  async () => {
    const { said } = await run("clone", "mkdir -p e/f; chmod 000 e/f", "test -f done.flag");
    expect(said).toContain("e/f (unreadable: the folder could not be read (EACCES))");
  },
);

test.skipIf(!mayBeOrdinary)(
  `a package that its user may not read is named before anything is paid for${mayBeOrdinary ? "" : " (skipped: root cannot become an ordinary user)"}`,
  async () => {
    const { said } = await run("clone", "true", "test -f done.flag", (folder) => {
      writeFileSync(join(folder, "node_modules/x/secret.js"), "x");
      chmodSync(join(folder, "node_modules/x/secret.js"), 0o000);
    });
    expect(said).toContain("You may not read");
    expect(said).toContain("node_modules/x/secret.js");
  },
);
