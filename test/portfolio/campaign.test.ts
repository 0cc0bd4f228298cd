// Whole portfolios by a seed, with processes: four workers, agents that fail, ask and conflict, and
// kill -9 for the pool and for agents at any moment. `npm run test:long` plays fifty seeds of 6
// projects with 20 tasks each. A seed alone: PORTFOLIO_CAMPAIGN=17 vitest run
// test/portfolio/campaign.test.ts

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { autopilot, begin, type Reported } from "../support/autopilot.ts";
import { git, scratch, scratchFolder, write } from "../support/scratch-repository.ts";
import { dice } from "../support/dice.ts";
import {
  colleagueName,
  deal,
  type DealtTask,
  filesOf,
  type Kind,
  layOut,
  sharedFile,
} from "./campaign-deal.ts";

type Campaign = {
  readonly seed: number;
  readonly projects: number;
  readonly tasks: number;
  readonly kinds?: readonly Kind[];
};

const named = process.env["PORTFOLIO_CAMPAIGN"];
const whole = { projects: 6, tasks: 20 } as const;
/**
 * One small campaign has one of everything but a question; a pair that fails together takes two
 * places.
 */
const small: Campaign = {
  seed: 1,
  projects: 2,
  tasks: 3,
  kinds: ["textual", "fails_once", "plain", "semantic", "semantic", "fails"],
};
const campaigns: readonly Campaign[] =
  named !== undefined && named !== "all"
    ? named.split(",").map((seed) => ({ seed: Number(seed), ...sizeNamed() }))
    : named === "all"
      ? Array.from({ length: 50 }, (_, at) => ({ seed: at + 1, ...whole }))
      : [small];

/** `PORTFOLIO_CAMPAIGN_SIZE=2x4` */
function sizeNamed(): { readonly projects: number; readonly tasks: number } {
  const [projects, tasks] = (process.env["PORTFOLIO_CAMPAIGN_SIZE"] ?? "").split("x").map(Number);
  return { projects: projects || whole.projects, tasks: tasks || whole.tasks };
}

type Row = { readonly id: string; readonly status: string; readonly landed: string | null };
type Block = { readonly block: string; readonly task: string | null };

describe.each(campaigns)("a campaign of $projects × $tasks tasks, seed $seed", (campaign) => {
  test(
    "every task ends where it should, each effect is in git once, and every landing is green",
    { timeout: 3_600_000 },
    async () => {
      const dealt = deal(campaign.seed, campaign, campaign.kinds);
      const played = await play(campaign, dealt);
      const { folder, repositories, ids, run } = played;
      console.info(reported(folder, played.log));
      expect(
        played.log.filter((line) => line.includes("SIGKILL")),
        "pools that were killed",
      ).not.toEqual([]);

      const rows = new Map(
        ((await run("status"))["tasks"] as readonly Row[]).map((row) => [row.id, row]),
      );

      const ends = Object.fromEntries(
        dealt.map(({ key }) => [key, rows.get(ids.get(key) ?? "")?.status]),
      );

      const astray = dealt
        .filter(({ key, ends: expected }) => ends[key] !== expected)
        .map(({ key }) => ids.get(key) ?? "");
      expect(ends, [...played.log, ...eventsOf(folder, astray)].join("\n")).toEqual(
        Object.fromEntries(dealt.map(({ key, ends: expected }) => [key, expected])),
      );

      for (const [project, repository] of Object.entries(repositories)) {
        const own = dealt.filter((task) => task.project === project);
        expectOnce(repository, own, ids);
        expectGreen(repository);
        expect(git(repository, "status", "--porcelain")).toBe("");
        expect(
          git(repository, "for-each-ref", "--format=%(refname)", "refs/autopilot/portfolio"),
        ).toBe(""); // nothing that landed is kept twice
      }

      const before = readBytes(join(folder, ".openclaw-autopilot"));
      expect((await run("rebuild"))["different"]).toEqual([]);
      expect(readBytes(join(folder, ".openclaw-autopilot"))).toEqual(before);
      expect(
        readdirSync(join(folder, ".autopilot/portfolio")).filter((name) =>
          name.startsWith("merge-"),
        ),
      ).toEqual([]);

      expect(processesIn(dirname(folder)).map(({ words: text }) => text)).toEqual([]);
    },
  );
});

/** The portfolio's lines about these tasks: how they came to end elsewhere. */
const eventsOf = (folder: string, tasks: readonly string[]): readonly string[] =>
  readFileSync(join(folder, ".openclaw-autopilot/events/events.jsonl"), "utf8")
    .split("\n")
    .filter((line) => tasks.some((task) => line.includes(task)));

/** What happened, in numbers. */
function reported(folder: string, log: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const [, type = ""] of readFileSync(
    join(folder, ".openclaw-autopilot/events/events.jsonl"),
    "utf8",
  ).matchAll(/"event_type":"(\w+)"/g)) {
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }

  return [`${log.length} pools`, ...[...counts].map(([type, count]) => `${count} ${type}`)].join(
    ", ",
  );
}

/**
 * Plays it to its end: pools that are killed, agents that are killed, questions that are answered,
 * then pools that are left alone.
 */
async function play({ seed }: Campaign, tasks: readonly DealtTask[]) {
  const folder = join(scratchFolder("autopilot-campaign-"), "portfolio");
  const projects = [...new Set(tasks.map(({ project }) => project))];
  const repositories = Object.fromEntries(
    projects.map((name) => [name, scratch({ files: filesOf(tasks, name) })]),
  );

  // Where somebody commits past the working tree, another branch is checked out there.
  for (const { project, kind } of tasks) {
    if (kind === "textual") git(repositories[project] ?? "", "checkout", "-q", "-B", "elsewhere");
  }

  write(folder, { "README.md": "" });
  write(join(dirname(folder), "home/.config/autopilot"), {
    "config.yaml": "isolation: clone\nchecks: { repeat: 1, canary: off }\n",
  });

  const run = async (...args: readonly string[]): Promise<Reported> =>
    (await autopilot(folder, ["portfolio", ...args, "--json"])).json;
  await run("init");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "list.json"), JSON.stringify(layOut(tasks, folder, repositories)));
  const imported = await run("import", "list.json");
  expect(imported).toMatchObject({ result: "PASS" });
  const ids = new Map(
    tasks.map(({ key }, at) => [key, (imported["ids"] as readonly string[])[at] ?? ""]),
  );

  const roll = dice(seed * 7919);
  const log: string[] = [];
  const args = ["portfolio", "run", "--until-idle", "--jobs", "4", "--json"];
  const killed = new Set<string>();
  const more = roll(3);
  const kills = named === undefined ? 2 : 3 + more;

  for (let round = 0, quiet = 0; quiet < 2; round++) {
    expect(round, log.join("\n")).toBeLessThan(kills + 40);
    const pool = begin(folder, args);
    const isKilled = round < kills;
    const later = roll(8000);
    const deadline = isKilled ? 1500 + (round === 0 ? 0 : later) : Number.POSITIVE_INFINITY; // the first one cannot be done by then

    const isOver = await withAgentsKilled(
      pool.ended,
      deadline,
      folder,
      roll,
      isKilled ? killed : null,
    );
    if (!isOver) pool.child.kill("SIGKILL");
    const { out, err, signal } = await pool.ended;
    log.push(`round ${round}: ${signal ?? out.slice(0, 300)} ${err.slice(-2000)}`);
    const answered = await answerAll(run);
    quiet = signal === null && answered === 0 ? quiet + 1 : 0;
  }

  return { folder, repositories, ids, run, log };
}

/**
 * Whether the pool ended by itself before the deadline. Meanwhile agents are killed: of each run
 * one at most, so that none fails for it.
 */
async function withAgentsKilled(
  ended: Promise<unknown>,
  deadlineMs: number,
  folder: string,
  roll: (below: number) => number,
  killed: Set<string> | null,
): Promise<boolean> {
  const pool = { isOver: false };
  void ended.then(() => (pool.isOver = true));

  for (let ms = 0; ms < deadlineMs && !pool.isOver;) {
    const pause = 500 + roll(1500);
    await Promise.race([ended, wait(Math.min(pause, deadlineMs - ms))]);
    ms += pause;
    if (killed === null || pool.isOver || roll(3) > 0) continue;
    const agents = processesIn(dirname(folder)).filter(
      ({ run, words: text }) => run !== null && !killed.has(run) && text.includes("scripted"),
    );
    const one = agents[roll(Math.max(1, agents.length))];
    if (one?.run === undefined || one.run === null) continue;
    killed.add(one.run);
    process.kill(one.pid, "SIGKILL");
  }

  return pool.isOver;
}

async function answerAll(run: (...args: readonly string[]) => Promise<Reported>): Promise<number> {
  const blocks = (await run("inbox"))["blocks"] as readonly Block[];
  for (const { block } of blocks) {
    expect(await run("answer", "--block", block, "A")).toMatchObject({ result: "PASS" });
  }

  return blocks.length;
}

/**
 * What landed is on the branch by one merge, with its files as they were made; nothing else is
 * there.
 */
function expectOnce(
  repository: string,
  tasks: readonly DealtTask[],
  ids: ReadonlyMap<string, string>,
): void {
  const trailers = git(
    repository,
    "log",
    "--format=%(trailers:key=Autopilot-Task,valueonly,separator=%x2C)",
    "main",
  )
    .split("\n")
    .flatMap((line) => line.split(","))
    .filter((line) => line !== "");

  const landed = tasks.filter(({ ends }) => ends === "done");
  expect(trailers.toSorted()).toEqual(landed.map(({ key }) => ids.get(key) ?? "").toSorted());
  const subjects = git(repository, "log", "--format=%s", "main").split("\n");

  for (const { key, kind, ends } of tasks) {
    const made = contentAt(repository, `${key}.txt`);
    expect([key, made]).toEqual([key, ends === "done" ? `made ${key}` : null]);
    if (kind !== "textual" || ends !== "done") continue;
    const isMet = subjects.includes(colleagueName(key));
    expect(contentAt(repository, sharedFile(key))).toBe(isMet ? "theirs\nmine" : "mine");
  }
}

function contentAt(repository: string, path: string): string | null {
  try {
    return git(repository, "show", `main:${path}`);
  } catch {
    return null;
  }
}

/** The project's own check holds after every step of the branch. */
function expectGreen(repository: string): void {
  for (const commit of git(repository, "rev-list", "--first-parent", "main").split("\n")) {
    const tree = scratchFolder();
    execFileSync("sh", ["-c", `git -C '${repository}' archive ${commit} | tar -x -C '${tree}'`]);
    execFileSync("sh", ["check.sh"], { cwd: tree });
  }
}

const readBytes = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name))
      .toSorted()
      .map((path) => [path, readFileSync(path, "utf8")]),
  );

/** Living processes that work somewhere in this folder, and the run that they are marked with. */
function processesIn(
  folder: string,
): readonly { readonly pid: number; readonly run: string | null; readonly words: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const at = join("/proc", name);
        if (!existsSync(at) || !readlinkSync(join(at, "cwd")).startsWith(`${folder}/`)) return [];
        const text = readFileSync(join(at, "cmdline"), "utf8").replaceAll("\0", " ");
        const mark = readFileSync(join(at, "environ"), "utf8")
          .split("\0")
          .find((one) => one.startsWith("AUTOPILOT_RUN="));

        return text === ""
          ? []
          : [{ pid: Number(name), run: mark?.slice("AUTOPILOT_RUN=".length) ?? null, words: text }];
      } catch {
        return []; // gone meanwhile
      }
    });
}
