// demo: plays a whole run in a throw-away repository with the embedded agent: an honest step, a
// false claim caught, an escape blocked, a kill -9, a resume, and a report with proof. Everything
// it shows is the output of the real commands.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { agentScript, shopCriteria, shopFiles, shopGoal, shopScope } from "./shop.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { eraseSync } from "../../workspace/folder.ts";

const waitMsMax = 30_000;
const pollMs = 25;
/** After the last turn has begun: the agent is at work by then, and still far from its end. */
const killDelayMs = 300;

type Say = (line?: string) => void;
type DemoInput = { readonly keep?: boolean | undefined };

/** Where the demo is played, and how it shows what happens. */
type Stage = {
  readonly context: CommandContext;
  /** The repository. */
  readonly shopFolder: string;
  /** The agent's script, as `--agent` names it. */
  readonly agent: string;
  readonly say: Say;
};

/** What went wrong, in words; null if the chapter played as it should. */
type ChapterProblem = string | null;

export function demo(context: CommandContext, input: DemoInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const folder = mkdtempSync(join(tmpdir(), "autopilot-demo-"));
    const shopFolder = join(folder, "shop");
    const agent = `scripted:${join(folder, "agent.yaml")}`;
    const say = (line = ""): void => context.show(line);

    try {
      sayIntroduction(say);
      createShop(shopFolder, folder);
      return await play(
        { context, shopFolder, agent, say },
        input.keep === true ? shopFolder : null,
      );
    } finally {
      if (input.keep !== true) eraseSync(folder);
    }
  });
}

function sayIntroduction(say: Say): void {
  say(
    "A small shop with two bugs, in a repository of its own. Its agent is the embedded one: a real agent process that",
  );

  say(
    "plays a script. It will do one honest step, then lie, then break out of its scope, and at last do its work.",
  );
}

async function play(stage: Stage, keptFolder: string | null): Promise<CommandResponse> {
  const problem = (await playInterruptedRun(stage)) ?? (await playStatus(stage));
  if (problem !== null) return respondFailed(problem, keptFolder);

  const { isSound, verdict, state } = await playRest(stage);
  stage.say("");
  if (!isSound) return respondFailed("the demo did not end as it should", keptFolder);

  const keptHint =
    keptFolder === null
      ? {}
      : { remediation: [`the repository is kept: cd ${keptFolder} && autopilot log`] };
  return respond("ok", {
    message:
      "Honest work landed and verified; one lie caught, one break-out blocked, one power cut survived.",
    state,
    data: { verdict, folder: keptFolder },
    ...keptHint,
  });
}

async function playInterruptedRun({
  context,
  shopFolder,
  agent,
  say,
}: Stage): Promise<ChapterProblem> {
  showChapter(
    say,
    "1. It starts. The agent works, lies, breaks out; then we pull the plug (kill -9) in the middle of a turn.",
  );

  const criteria = shopCriteria.flatMap((criterion) => ["--done-criteria", criterion]);
  const goal = ["go", shopGoal, "--scope", shopScope, ...criteria];
  const args = [...goal, "--agent", agent, "--isolation", "clone", "--yes"];
  const killed = await runAndPullThePlug(context, shopFolder, args, say);
  if (!killed.wasAtWork) return "the run ended before the plug was pulled";
  if (killed.processesLeft > 0) {
    return `${killed.processesLeft} processes outlived their run`;
  }

  const canCount = existsSync("/proc/self");
  const leftText = canCount ? "   (and 0 processes of the run are left)" : "";
  say("");
  say(`   >>> kill -9 ${killed.pid}${leftText}`);
  return null;
}

async function playStatus({ context, shopFolder, say }: Stage): Promise<ChapterProblem> {
  showChapter(
    say,
    "2. What the journal knows. Nothing that was acknowledged is lost; your checkout has not been touched.",
  );

  const status = await runAndShow(context, shopFolder, ["status"], say);
  const changes = spawnSync("git", ["status", "--porcelain"], {
    cwd: shopFolder,
    encoding: "utf8",
  });
  const isUntouched = changes.stdout === "";
  if (status.code === 0 && isUntouched) return null;
  return "the checkout was touched, or the status cannot be read";
}

/** The run resumed to its end, its report, and the proof of both. */
async function playRest({ context, shopFolder, say }: Stage) {
  showChapter(say, "3. Resume. The interrupted turn is played again, nothing else is.");
  const resumed = await runAndShow(context, shopFolder, ["resume"], say);

  showChapter(
    say,
    "4. The report: facts the runner made itself, apart from what the agent claimed.",
  );
  await runAndShow(context, shopFolder, ["report"], say);

  showChapter(
    say,
    "5. Proof that does not ask to be believed: the chain is checked and every check is run again in a fresh checkout.",
  );
  const verified = await runAndShow(context, shopFolder, ["verify"], say);

  const reportText = await runQuietly(context, shopFolder, ["report", "--json"]);
  const { verdict, state } = JSON.parse(reportText.out) as { verdict: string; state: string };
  const isSound =
    resumed.code === 0 && verified.code === 0 && verdict === "verified" && hasLanded(shopFolder);
  return { isSound, verdict, state };
}

/** Whether the honest work is in the checkout, and the break-out's file is not. */
function hasLanded(shop: string): boolean {
  const discount = readFileSync(join(shop, "src/discount.js"), "utf8");
  return discount.includes("0.9") && !readdirSync(shop).includes("deploy.sh");
}

function showChapter(say: Say, title: string): void {
  say();
  say(`── ${title}`);
}

function respondFailed(message: string, keptFolder: string | null): CommandResponse {
  const hint = keptFolder === null ? {} : { remediation: [`look at ${keptFolder}`] };
  return respond("internal_error", { message: `The demo failed: ${message}.`, ...hint });
}

function createShop(shop: string, folder: string): void {
  for (const [path, text] of Object.entries(shopFiles)) {
    mkdirSync(dirname(join(shop, path)), { recursive: true });
    writeFileSync(join(shop, path), text);
  }

  writeFileSync(join(folder, "agent.yaml"), agentScript);
  const settings = ["user.name=Demo", "user.email=demo@localhost", "init.defaultBranch=main"];
  const settingArgs = settings.flatMap((setting) => ["-c", setting]);
  const git = (...args: string[]): void => {
    spawnSync("git", [...settingArgs, ...args], { cwd: shop });
  };

  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", "A shop with two bugs");
}

const programPath = (): string => process.argv[1] ?? "";
const childEnv = (context: CommandContext): NodeJS.ProcessEnv => ({
  ...context.env,
  NO_COLOR: context.isTerminal ? undefined : "1",
});

/** Runs a command to its end, or until the person interrupts the demo. */
async function runQuietly(
  context: CommandContext,
  cwd: string,
  args: readonly string[],
): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, [programPath(), ...args], {
    cwd,
    env: childEnv(context),
    stdio: ["ignore", "pipe", "pipe"],
  });

  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.err += text));
  const code = await waitForExit(context, child);
  await refuseIfInterrupted(context, cwd);

  return { code, ...output };
}

/** A child's exit code. An interrupt ends it at once; its guardian ends what it started. */
async function waitForExit(context: CommandContext, child: ChildProcess): Promise<number> {
  const end = (): void => {
    child.kill("SIGKILL");
    child.stdout?.destroy(); // something that it started may hold them open
    child.stderr?.destroy();
  };
  context.interrupted.addEventListener("abort", end, { once: true });
  if (context.interrupted.aborted) end();
  try {
    return await new Promise<number>((resolve, fail) =>
      child.once("error", fail).once("close", (code) => resolve(code ?? 1)),
    );
  } finally {
    context.interrupted.removeEventListener("abort", end);
  }
}

async function refuseIfInterrupted(context: CommandContext, cwd: string): Promise<void> {
  if (!context.interrupted.aborted) return;
  const count = await countProcessesLeft(cwd);
  refuse("command_interrupted", {
    message: `The demo was ended${count === 0 ? "" : `, and ${count} of its processes are still ending`}.`,
    remediation: ["autopilot demo"],
  });
}

async function runAndShow(
  context: CommandContext,
  cwd: string,
  args: readonly string[],
  say: Say,
): Promise<{ code: number }> {
  say(`$ autopilot ${quoteArgs(args)}`);
  const { out, err, code } = await runQuietly(context, cwd, args);
  for (const line of `${err}${out}`.trimEnd().split("\n")) say(`   ${line}`);

  return { code };
}

function quoteArgs(args: readonly string[]): string {
  const quoted = args.map((word) => (/^[\w./:=-]+$/.test(word) ? word : `"${word}"`));
  return quoted.join(" ");
}

/** Runs until the last turn is under way, kills the runner, and counts its remaining processes. */
async function runAndPullThePlug(
  context: CommandContext,
  cwd: string,
  args: readonly string[],
  say: Say,
): Promise<{ pid: number; wasAtWork: boolean; processesLeft: number }> {
  say(`$ autopilot ${quoteArgs(args)}`);
  const child = spawn(process.execPath, [programPath(), ...args], {
    cwd,
    env: childEnv(context),
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => say(`   ${line}`));
  }

  const exited = waitForExit(context, child);
  await waitForLastTurn(context, cwd, child);
  await sleep(killDelayMs);
  child.kill("SIGKILL");
  await exited;
  await refuseIfInterrupted(context, cwd);

  return {
    pid: child.pid ?? 0,
    wasAtWork: child.signalCode === "SIGKILL",
    processesLeft: await countProcessesLeft(cwd),
  };
}

/** Until the last turn is under way, the run has ended, or it takes too long. */
async function waitForLastTurn(
  { interrupted }: CommandContext,
  cwd: string,
  child: ChildProcess,
): Promise<void> {
  for (let waited = 0; waited < waitMsMax; waited += pollMs) {
    if (child.exitCode !== null || isInLastTurn(cwd) || interrupted.aborted) return;
    await sleep(pollMs);
  }
}

/** How many processes of the run are left after its guardian has acted. */
async function countProcessesLeft(cwd: string): Promise<number> {
  for (let waited = 0; waited < waitMsMax && countProcesses(cwd) > 0; waited += pollMs) {
    await sleep(pollMs);
  }

  return countProcesses(cwd);
}

/**
 * The escape of the third turn is recorded as an interrupted step; the session that opens after it
 * is the last turn's.
 */
function isInLastTurn(cwd: string): boolean {
  const text = readJournals(cwd);
  const escape = text.lastIndexOf('"event":"step_interrupted"');
  return escape !== -1 && text.slice(escape).includes('"event":"session_opened"');
}

function readJournals(cwd: string): string {
  const runs = join(cwd, ".autopilot", "runs");
  try {
    return readdirSync(runs)
      .map((run) => readFileSync(join(runs, run, "journal.jsonl"), "utf8"))
      .join("");
  } catch {
    return ""; // the run has not begun yet
  }
}

/** Counts the processes with the run's mark in their environment; 0 on systems without /proc. */
function countProcesses(cwd: string): number {
  try {
    const [run] = readdirSync(join(cwd, ".autopilot", "runs"));
    const demoFolder = basename(dirname(cwd)); // a run elsewhere that began in the same second has the same id
    const marks = [`AUTOPILOT_RUN=${run}`, demoFolder];

    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    const environments = pids.map(readEnvironment);
    return environments.filter((text) => marks.every((mark) => text.includes(mark))).length;
  } catch {
    return 0;
  }
}

/** Empty for a process that has ended meanwhile, or is not ours to inspect. */
function readEnvironment(pid: string): string {
  try {
    return readFileSync(join("/proc", pid, "environ"), "utf8");
  } catch {
    return "";
  }
}
