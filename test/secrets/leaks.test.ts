// No secret of the runner's is ever written: two hundred of them (in an everyday run of the suite
// two dozen), leaked by agent and checks in fifteen forms each, in pieces.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  apart,
  autopilot,
  journal,
  runFolderOf,
  scripted,
  type Ended,
} from "../support/autopilot.ts";
import { checkedOnce, scratch } from "../support/scratch-repository.ts";
import { canariesOf, type Canary, findIn, findInTexts, formsOf, tracesIn } from "./canaries.ts";
import { isLong } from "../support/sampled.ts";

const pieceChars = 397;
const cutUp = (text: string): readonly string[] =>
  text.match(new RegExp(`[^]{1,${pieceChars}}`, "gu")) ?? [];

/**
 * Prints what is hidden in forms.bin, in pieces that are cut anywhere, and fails as long as
 * src/b.txt is not there.
 */
const leak = `import { existsSync, readFileSync, writeSync } from "node:fs";
const forms = readFileSync("forms.bin").map((byte) => byte ^ 0x5a);
for (const to of [1, 2])
  for (let at = 0; at < forms.length; at += 1009) {
    writeSync(to, forms.subarray(at, at + 1009));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
process.exit(existsSync("src/b.txt") ? 0 : 3);
`;

type Scene = {
  readonly folder: string;
  readonly canaries: readonly Canary[];
  readonly env: Readonly<Record<string, string>>;
};

/**
 * A repository whose check leaks, and a draft whose agent will. The runner that drafts it does not
 * know the secrets, so the script is kept as it is.
 */
async function drafted(seed: string, count: number): Promise<Scene> {
  const canaries = canariesOf(seed, count);
  const all = canaries.flatMap(({ value }) => Object.values(formsOf(value))).join(" ; ");
  const folder = checkedOnce(
    scratch({ files: { "README.md": "# scratch\n", "leak.mjs": leak, "forms.bin": "" } }),
  );
  writeFileSync(
    join(folder, "forms.bin"),
    Buffer.from(all).map((byte) => byte ^ 0x5a),
  );

  const { execFileSync } = await import("node:child_process");
  execFileSync("git", ["commit", "-qam", "forms"], { cwd: folder });
  const value = (n: number): string => canaries[n]?.value ?? "";
  const hex = (n: number): string => Buffer.from(value(n)).toString("hex");

  const turns = [
    // Outside its scope, with secrets in the names and in the text.
    {
      do: [
        { write: { path: `other/${value(0)}.txt`, text: all } },
        { write: { path: `other/${hex(1)}`, text: "x\n" } },
      ],
    },
    {
      do: [
        {
          error: {
            code: -32603,
            message: `upstream refused ${value(4)} and ${encodeURIComponent(value(1))}`,
          },
        },
      ],
    },
    { do: [{ say: "half of it" }, { exit: 9 }] },
    {
      do: [
        ...cutUp(all).map((say) => ({ say })),
        ...cutUp(all)
          .slice(0, 40)
          .map((think) => ({ think })),
        { run: `echo ${value(3)} ${hex(7)}` },
        { write: { path: "src/b.txt", text: "b\n" } },
        { say: ` ${value(6)}\n<promise>DONE</promise>` },
      ],
      confidence: 0.1,
    },
    {
      when: { role: "judge" },
      returns: {
        pass: true,
        confidence: 0.95,
        issues: [`it says ${value(9)}`, value(10), json(value(13))],
      },
    },
  ];

  const args = [
    "--done-criteria",
    "b is there :: node leak.mjs",
    "--scope",
    "src/**",
    "--handoff-mode",
    "auto",
    "--isolation",
    "clone",
  ];
  const started = await autopilot(folder, [
    "start",
    "make b",
    "--json",
    ...args,
    ...scripted(folder, turns),
    "--max-budget",
    "tokens=9M",
  ]);
  expect(started.json).toMatchObject({ state: "draft" });

  return {
    folder,
    canaries,
    env: Object.fromEntries(canaries.map(({ name, value: text }) => [name, text])),
  };
}

const json = (text: string): string => JSON.stringify(text);

/** Works until the run is at its end, and gives everything the commands said. */
async function worked(
  { folder }: Scene,
  env: Readonly<Record<string, string>>,
  work = apart,
): Promise<{ readonly ends: readonly Ended[]; readonly state: unknown }> {
  const ends = [await work(folder, ["go", "--yes", "--json"], { env })];
  for (let tries = 0; tries < 6 && ends.at(-1)?.json.state === "paused"; tries++) {
    ends.push(await work(folder, ["resume", "--now", "--json"], { env }));
  }

  const state = ends.at(-1)?.json.state;
  for (const args of [
    ["status"],
    ["status", "--json"],
    ["log"],
    ["log", "--json"],
    ["report"],
    ["report", "--json"],
    ["transcript", "--all"],
    ["transcript", "--json"],
    ["trace", "--json"],
    ["diff", "--json"],
    ["verify", "--json"],
  ]) {
    ends.push(await autopilot(folder, args, { env }));
  }

  return { ends, state };
}

/**
 * What agents and checks work on is theirs: their layers and homes, checkouts of the repository,
 * git's own objects; and the script, which was stored before.
 */
function isOthers(folder: string): (path: string) => boolean {
  const { cast } = journal(folder)[0] as unknown as { cast: Record<string, { script?: string }> };
  const scripts = new Set(Object.values(cast).map(({ script }) => script));
  return (path) =>
    /^(?:layers|checks|home|trash|git)\//.test(path) || scripts.has(path.split("/").at(-1));
}

const said = (ends: readonly Ended[]) =>
  ends.map(({ out, err }, at) => ({
    file: `output ${at}`,
    text: Buffer.from(out + err).toString("latin1"),
  }));

describe("secrets of the runner's, leaked in fifteen forms each", () => {
  test("none is in any byte of the run's folder or of what commands say; the run completes, and its journal holds", async () => {
    const scene = await drafted("known", isLong ? 200 : 24);
    const { ends, state } = await worked(scene, scene.env);
    expect({ state, verify: ends.at(-1)?.json.result }).toEqual({
      state: "completed",
      verify: "PASS",
    });

    expect(findIn(runFolderOf(scene.folder), scene.canaries, isOthers(scene.folder))).toEqual([]);
    expect(findInTexts(said(ends), scene.canaries)).toEqual([]);
    // The leaks happened: their names are where they were.
    const text = readFileSync(join(runFolderOf(scene.folder), "journal.jsonl"), "utf8");
    for (const n of [0, 1, 4, 9, 10]) expect(text).toContain(`[redacted:CANARY_${n}_TOKEN]`);
    for (const event of [
      "step_interrupted",
      "step_failed",
      "turn_ended",
      "changes_applied",
      "run_completed",
    ]) {
      expect(journal(scene.folder).some((entry) => entry.event === event)).toBe(true);
    }
  });

  test("the same search finds them where the runner does not know them, in journal, blobs, transcripts and what is set aside", async () => {
    const scene = await drafted("unknown", isLong ? 50 : 12);
    const { ends } = await worked(scene, {}, autopilot); // no secret is in an environment here
    const found = findIn(runFolderOf(scene.folder), scene.canaries, isOthers(scene.folder));
    const places = new Set(found.map(({ file }) => file.split("/")[0]));
    expect([...places]).toEqual(
      expect.arrayContaining(["aside", "blobs", "journal.jsonl", "transcripts"]),
    );

    // Not one form of one secret escapes the search: each was leaked, and each is found.
    const traces = new Set(found.map(({ canary }) => canary));
    expect(traces.size).toBe(tracesIn(scene.canaries));
    expect(findInTexts(said(ends), scene.canaries).length).toBeGreaterThan(0);
  });
});

describe("a secret in what the user says", () => {
  const token = "Zx81kQ-vv02_Lm4ooP";
  const env = { DEPLOY_TOKEN: token };

  test("a goal with a secret in it is drafted without it", async () => {
    const folder = scratch();
    const { json: reported, out } = await autopilot(
      folder,
      ["start", `deploy with ${token}`, "--json", "--isolation", "clone", ...scripted(folder, [])],
      { env },
    );
    expect(reported).toMatchObject({ state: "draft" });
    expect(out).not.toContain(token);
    expect(journal(folder)[0]).toMatchObject({
      objective: { goal: "deploy with [redacted:DEPLOY_TOKEN]" },
    });
  });

  test("a check with a secret in its command is refused, since it would be run as it is written down", async () => {
    const folder = scratch();
    const args = [
      "start",
      "x",
      "--json",
      "--isolation",
      "clone",
      "--done-criteria",
      `ok :: curl -H ${token} localhost`,
      ...scripted(folder, []),
    ];

    const { json: reported, out, code } = await autopilot(folder, args, { env });
    expect({ code, reason: reported.reason_code }).toEqual({
      code: 1,
      reason: "objective_schema_invalid",
    });

    expect(reported.message).toContain("[redacted:DEPLOY_TOKEN]");
    expect(out).not.toContain(token);
  });

  test("a refusal that says back what it refuses does so without it", async () => {
    const folder = scratch();
    const { out, err, code } = await autopilot(
      folder,
      ["go", "x", "--yes", "--isolation", token, ...scripted(folder, [])],
      { env },
    );
    expect(code).not.toBe(0);
    expect(out + err).toContain("[redacted:DEPLOY_TOKEN]");
    expect(out + err).not.toContain(token);
    const misuse = await autopilot(folder, ["status", `--${token}`], { env });
    expect(misuse.out + misuse.err).not.toContain(token);
  });

  test("a variable that the config names is a secret, and one in a login file too", async () => {
    const folder = scratch({ files: { "README.md": "x\n", "autopilot.yaml": "" } });
    const home = join(dirname(folder), "home");
    const { mkdirSync } = await import("node:fs");
    mkdirSync(join(home, ".config", "autopilot"), { recursive: true });
    writeFileSync(join(home, ".npmrc"), "//registry.example/:_authToken=np-9182-zzz-7\n");
    writeFileSync(join(home, ".config", "autopilot", "config.yaml"), "redact: [HOUSE_NUMBER]\n");
    const goal = "use np-9182-zzz-7 at grove-lane-77b";
    await autopilot(
      folder,
      ["start", goal, "--json", "--isolation", "clone", ...scripted(folder, [])],
      {
        env: { HOUSE_NUMBER: "grove-lane-77b" },
      },
    );

    expect(journal(folder)[0]).toMatchObject({
      objective: { goal: "use [redacted:npmrc] at [redacted:HOUSE_NUMBER]" },
    });
  });
});

describe("a secret in what an agent would have committed", () => {
  const token = "Zx81kQ-vv02_Lm4ooP";
  const password = "base-known-pw-99";
  const env = { DEPLOY_TOKEN: token, DB_PASSWORD: password };
  const halves = (text: string): string => `${text.slice(0, 7)}""${text.slice(7)}`; // a script is redacted too, so it has the secret in two
  const done = [{ write: { path: "src/b.txt", text: "b\n" } }, { say: "<promise>DONE</promise>" }];

  const turns = [
    { do: [{ run: `echo "token: ${halves(token)}" > src/plain.yml` }, ...done] },
    {
      do: [
        { run: `{ printf '\\0\\1'; echo "export T=${halves(token)}" | base64; } > src/packed.bin` },
        ...done,
      ],
    },
    {
      do: [
        { run: `echo "db: ${halves(password)}" > src/copy.yml; echo more >> src/old.yml` },
        ...done,
      ],
    },
  ];

  const args = [
    "--scope",
    "src/**",
    "--done-criteria",
    "b is there :: test -f src/b.txt",
    "--isolation",
    "clone",
  ];
  const goes = (folder: string, around: Readonly<Record<string, string>>) =>
    autopilot(folder, ["go", "make b", "--yes", "--json", ...args, ...scripted(folder, turns)], {
      env: around,
    });

  const files = { "README.md": "x\n", "src/old.yml": `db: ${password}\n` };

  test("is refused by name, the agent is told, the second time a person is; what the repository holds already is no news", async () => {
    const folder = scratch({ files });
    const paused = await goes(folder, env);
    expect(paused.json).toMatchObject({ state: "paused", reason_code: "secret_in_changes" });
    const set = journal(folder).filter(({ event }) => event === "step_interrupted");
    expect(set.map(({ by, paths, reason_code }) => ({ by, paths, reason_code }))).toEqual(
      ["src/plain.yml", "src/packed.bin"].map((path) => ({
        by: "secret",
        paths: [path],
        reason_code: "secret_in_changes",
      })),
    );

    expect((await autopilot(folder, ["status"], { env })).out).toContain(
      "src/packed.bin (secret: it holds the secret DEPLOY_TOKEN)",
    );

    const { out } = await autopilot(folder, ["log"], { env });
    expect(out).not.toContain(token);

    const ended = await autopilot(folder, ["resume", "--json"], { env });
    expect(ended.json).toMatchObject({ state: "completed", reason_code: "completion_verified" });
    expect(readFileSync(join(folder, "src/copy.yml"), "utf8")).toBe(`db: ${password}\n`);
    // No object of the repository or of the run holds it, packed or not.
    const { execFileSync } = await import("node:child_process");

    for (const at of [join(folder, ".git"), join(runFolderOf(folder), "git")]) {
      const all = execFileSync(
        "git",
        ["--git-dir", at, "cat-file", "--batch-all-objects", "--batch"],
        { maxBuffer: 1 << 26 },
      );
      expect(all.includes("b\n")).toBe(true);
      expect(
        all.includes(token) || all.includes(Buffer.from(`export T=${token}`).toString("base64")),
      ).toBe(false);
    }
  });

  test("is committed where nobody says that it is a secret", async () => {
    const folder = scratch({ files });
    const { json: reported } = await goes(folder, {});
    expect(reported).toMatchObject({ state: "completed" });
    expect(readFileSync(join(folder, "src/plain.yml"), "utf8")).toBe(`token: ${token}\n`);
  });
});
