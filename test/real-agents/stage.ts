// stage: a scratch repository, a scripted model server, and one real agent on the PATH: all that a
// story needs, and nothing of the user's.
//
// Invariants:
//   T1. The model server lets in one key, which only the runner has: an agent that gets an answer
//       got it through the meter.
//   T2. What a story leaves behind is looked for twice: by the run's mark in the environment, and
//       by a word in the command line.

import { expect } from "vitest";
import { type ModelServer, openModelServer } from "../model-server/model-server.ts";
import { autopilot, begin, type Ended, until } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";
import { processesWith } from "./processes.ts";
import { type AgentName, realKey, userEnvironment } from "./installed.ts";

export type Stage = {
  readonly folder: string;
  readonly model: ModelServer;
  readonly env: Readonly<Record<string, string>>;
  /** From now on the model plays this, from its begin for every new prompt. */
  readonly play: (script: string) => void;
  /** The words of a `go` that is verified when made.txt says what it should. */
  readonly goArgs: (...more: readonly string[]) => readonly string[];
  readonly go: (...more: readonly string[]) => Promise<Ended>;
  readonly autopilot: (...args: readonly string[]) => Promise<Ended>;
  readonly begin: (...args: readonly string[]) => ReturnType<typeof begin>;
  /** The command that holds a turn open, and its processes. */
  readonly hold: string;
  readonly held: () => readonly string[];
  readonly close: () => Promise<void>;
};

export const honest =
  "[[write made.txt|made by the agent]] [[bash cat made.txt > copied.txt]] [[say All is done.\\n\\n<promise>DONE</promise>]]";

export async function openStage(name: AgentName, first: string): Promise<Stage> {
  let script = first;
  const model = await openModelServer({ keys: [realKey], script: () => script }); // T1
  const folder = scratch();
  const env = userEnvironment(name, model.url);
  // A number no other process has, where it does no harm.
  const mark = `9${Math.floor(Math.random() * 1e9)}.5`;
  const done = ["--done-criteria", "made.txt is made :: grep -q 'made by the agent' made.txt"];

  const goArgs = (...more: readonly string[]): readonly string[] => [
    "go",
    "make made.txt",
    "--agent",
    name,
    "--yes",
    "--json",
    ...done,
    ...more,
  ];

  return {
    folder,
    model,
    env,
    play: (next) => (script = next),
    goArgs,
    go: (...more) => autopilot(folder, goArgs(...more), { env }),
    autopilot: (...args) => autopilot(folder, args, { env }),
    begin: (...args) => begin(folder, args, { env }),
    hold: `tail -s ${mark} -f /dev/null`,
    held: () => processesWith((_, args) => args.includes(mark)),
    close: model.close,
  };
}

/** A run in the middle of a turn, with a command of the agent's alive. */
export async function midTurn(
  stage: Stage,
  ...more: readonly string[]
): Promise<ReturnType<typeof begin>> {
  stage.play(`[[bash ${stage.hold}]] [[hang]] [[say too late]]`);
  const begun = stage.begin(...stage.goArgs(...more));
  const isOver = begun.ended.then(({ out, err }) =>
    Promise.reject(new Error(`it ended before it was in mid-turn:\n${out}\n${err}`)),
  );
  await Promise.race([until("the agent's command", () => stage.held().length > 0, 90_000), isOver]);
  isOver.catch(() => undefined);

  return begun;
}

/** Nothing of the run is alive, and its journal is whole. */
export async function expectTidy(stage: Stage): Promise<void> {
  const mark = `AUTOPILOT_PLACE=${stage.folder}/`; // A run's name is its second, and others may have begun in it.
  expect({
    held: stage.held(),
    marked: processesWith((environment) => environment.includes(mark)),
  }).toEqual({ held: [], marked: [] }); // T2

  const { json } = await stage.autopilot("verify", "--json");
  expect(json).toMatchObject({ result: "PASS" });
}

/** All tokens the model reported, to agents and to their side calls. */
export const tokensReported = ({ model }: Stage): number =>
  model
    .calls()
    .flatMap(({ usage }) => usage ?? [])
    .reduce(
      (sum, usage) =>
        sum +
        usage.inputTokens +
        usage.cacheReadTokens +
        usage.cacheWriteTokens +
        usage.outputTokens,
      0,
    );

/** What the run's ledger holds. */
export async function countersOf(stage: Stage): Promise<Readonly<Record<string, number>>> {
  const { json } = await stage.autopilot("status", "--json");
  return (json["budget"] as { readonly counters: Readonly<Record<string, number>> }).counters;
}
