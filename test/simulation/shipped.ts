// shipped: the flows that are shipped, as the catalog's folder holds them, and whole runs of each
// in which chance decides what comes out of every step, out of all that the flow's own rows tell
// apart. No flow is known here by name.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import * as v from "valibot";
import { parse } from "yaml";
import { Flow, type Step } from "../../src/contracts/flow.ts";
import {
  findDomains,
  listOptionSets,
  listPossibleReports,
} from "../../src/engine/explore-domains.ts";
import { findStep } from "../../src/core/selectors.ts";
import type { RunView } from "../../src/core/state.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { answerTo, resume, task } from "./story-words.ts";
import type { Place, Plan, Reading, Story } from "./story.ts";

const catalog = new URL("../../src/flows/catalog/", import.meta.url);

export const shippedFlows: ReadonlyMap<string, Flow> = new Map(
  readdirSync(catalog)
    .filter((name) => existsSync(new URL(`${name}/flow.yaml`, catalog)))
    .map((name) => [
      name,
      v.parse(Flow, parse(readFileSync(new URL(`${name}/flow.yaml`, catalog), "utf8"))),
    ]),
);

/** How often people take up a run that pauses; then they leave it. */
const resumesMax = 12;

/** A run of a shipped flow under a seed: the same seed, the same outcomes wherever it is cut. */
export function wandering(name: string, seed: number): Story {
  const flow = shippedFlows.get(name);
  if (flow === undefined) throw new Error(`no flow ${name} in the catalog`);
  const sets = listOptionSets(flow);
  const options = sets[seed % sets.length] ?? {};
  const domains = findDomains(flow, options);
  const chanceAt = (...words: readonly (string | number | null)[]): Chance =>
    chanceOf(hashOf([seed, ...words].join("/")));
  const text = JSON.stringify(flow);

  return {
    name: `${name}: wandering, seed ${seed}`,
    flow: `shipped:${name}`,
    options,
    // What is counted over walks side by side would depend on which is first, so nothing of it ends
    // a run here.
    limits: {
      run: { ...plenty, no_progress_threshold: 1e6, same_error_threshold: 1e6 },
      phase: { ...plenty },
    },
    // A crash begins a new invocation, and here that counts.
    isLong: true,
    isCrashFree: text.includes('"rest":') || text.includes('"invocation"'),
    script: (place) =>
      "read" in place ? phasesFor(chanceAt("phases"), place) : outcomeAt(place, chanceAt, domains),
    people: (run) => peopleFor(run, chanceAt),
    endsWell: (run) =>
      ["completed", "stopped", "paused"].includes(run.status) || run.resting !== null,
  };
}

const plenty = { tokens: 1e12, minutes: 1e9, calls: 1e9, retries: 1e6 };

type ChanceAt = (...words: readonly (string | number | null)[]) => Chance;

/**
 * Two to four phases that wait for some of those before them; sometimes they cannot be read at
 * first.
 */
function phasesFor(chance: Chance, { isFixed }: Reading): Plan {
  if (!isFixed && chance.isTrue(0.2)) return { problem: "nobody can read this" } as unknown as Plan;
  const ids = Array.from({ length: 2 + chance.below(3) }, (_, at) => `${at + 1}`);
  const phases = ids.map((id, at) => ({
    id,
    after: ids.slice(0, at).filter(() => chance.isTrue(0.4)),
  }));

  return phases as unknown as Plan;
}

function outcomeAt(
  place: Place,
  chanceAt: ChanceAt,
  domains: ReturnType<typeof findDomains>,
): Plan {
  const { run, cursor, phase, step: id, task: inTask, n, visit } = place;
  const trouble = 0.15 * chanceAt("trouble").below(4) * 0.33; // some runs are calm, some are not
  const chance = chanceAt(phase, visit, inTask, id, n);
  const step: Step = findStep(run, cursor, id);
  const reported = listPossibleReports(step, domains).reports;
  const { facts, says } = reported[chance.below(reported.length)] ?? { facts: {}, says: {} };
  const tasks = ["a", "b", "c", "d"]
    .slice(0, chance.below(5))
    .map((name, at) => task(name, [name], at === 3 ? ["a"] : []));

  return {
    facts,
    says,
    ...(step.tasks === undefined
      ? {}
      : { tasks, left: step.tasks.leave !== undefined && chance.isTrue(0.3) ? ["person"] : [] }),
    ...(chance.isTrue(trouble) ? { fail: `it went wrong ${"i".repeat(n)}` } : {}),
    ...(step.agent !== undefined && chance.isTrue(0.05) ? { turnFails: "it hung up" } : {}),
    // What a gate looks at is there where the gate holds.
    ...(step.proof === undefined && chance.isTrue(0.3) ? { isLeftOut: true } : {}),
    ...(step.proof === undefined && chance.isTrue(0.1) ? { changes: false } : {}),
  };
}

/** People answer what they are asked and take up what paused, for a while. */
function peopleFor(run: RunView, chanceAt: ChanceAt): ReturnType<NonNullable<Story["people"]>> {
  const taken = Object.keys(run.requests).length;
  if (run.status === "running") return run.opening > resumesMax ? null : [];
  if (run.status !== "paused" || taken > 2 * resumesMax) return null;
  const [block] = Object.values(run.blocks);
  if (block === undefined) return [resume(run)];
  const answers = Object.keys(block.options);
  const answer = answers[chanceAt(block.block).below(Math.max(1, answers.length))] ?? "go on";

  return answerTo(run, () => answer);
}

function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  }

  return hash >>> 0;
}
