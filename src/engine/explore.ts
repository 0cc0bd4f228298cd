// explore: model-checks a flow: walks every path over abstract outcomes, with the same decide and
// fold that run it.
//
// Invariants it looks for:
//   X1. No phase is completed past a failed check or proof, nor after an agent's turn that nothing
//       has proved since.
//   X2. Nothing is a dead end, and the end can be reached.
//   X3. Every cycle passes a count, a person or a new invocation.

import type { Draft, Entry } from "../contracts/event.ts";
import type { Flow, Step } from "../contracts/flow.ts";
import { decide } from "../core/decide.ts";
import { evolve } from "../core/fold.ts";
import { initialState } from "../core/initial-state.ts";
import { findStep, getCursor } from "../core/selectors.ts";
import type { Run } from "../core/state.ts";
import { InvariantBroken } from "../kit/invariant.ts";
import { copyRun, buildStateKey, normalizeState } from "./explore-state.ts";
import {
  type Domains,
  findDomains,
  listOptionSets,
  withSmallBounds,
  listPossibleReports,
  type ScalarsByName,
} from "./explore-domains.ts";
import { exploredEvents, toEntry } from "./explore-draft.ts";

export type ExploreFinding = {
  readonly kind: "failed_proof" | "unproved" | "dead_end" | "ring" | "broken";
  readonly phase: string;
  readonly step: string | null;
  readonly message: string;
};
export type ExploreReport = {
  readonly states: number;
  /**
   * There were more states, or more outcomes of a step, than the limit: what it did not find may
   * still exist.
   */
  readonly gaveUp: boolean;
  readonly ends: { readonly completed: number; readonly stopped: number };
  readonly findings: readonly ExploreFinding[];
};
export type ExploreLimits = { readonly statesMax?: number; readonly options?: ScalarsByName };

/** A state in the search: the run, and the cursors whose last turn nothing has proved since. */
type Node = { readonly run: Run; readonly unproved: Set<string> };
/** `free` transitions cost nothing; a `paid` one needs a person's answer or a new invocation. */
type Transitions = {
  readonly place: string;
  readonly free: readonly (() => Node)[];
  readonly paid: readonly Node[];
};
/**
 * A possible result of an attempt, and whether that proves its cursor, leaves it unproved, or
 * neither.
 */
type Branch = { readonly drafts: readonly Draft[]; readonly isProved: boolean | null };
/** A state on the current path, and which of its free transitions comes next. */
type Frame = { readonly key: string; readonly transitions: Transitions; nextIndex: number };

/** So many recorded events in a row without a branch can only be a cycle. */
const recordsMax = 2_000;
const statesMaxDefault = 60_000;

export function exploreFlow(
  flow: Flow,
  { statesMax = statesMaxDefault, options }: ExploreLimits = {},
): ExploreReport {
  const boundedFlow = withSmallBounds(flow);
  const explorer = new Explorer(statesMax);

  for (const optionSet of options === undefined ? listOptionSets(flow) : [options]) {
    explorer.explorePaths(boundedFlow, optionSet);
  }

  return explorer.report();
}

class Explorer {
  readonly #statesMax: number;
  readonly #findings = new Map<string, ExploreFinding>();
  /** Nodes from which everything was explored, under whichever options lead there. */
  readonly #explored = new Set<string>();
  readonly #ends = { completed: 0, stopped: 0 };
  #domains: Domains = {};
  #states = 0;
  #gaveUp = false;
  #hasCutReports = false;

  constructor(statesMax: number) {
    this.#statesMax = statesMax;
  }

  report(): ExploreReport {
    const gaveUp = this.#gaveUp || this.#hasCutReports;
    if (this.#ends.completed === 0 && !gaveUp) {
      this.#addFinding({
        kind: "dead_end",
        phase: "",
        step: null,
        message: "no path reaches the end of the flow",
      });
    } // X2

    return {
      states: this.#states,
      gaveUp,
      ends: { ...this.#ends },
      findings: [...this.#findings.values()],
    };
  }

  /**
   * Depth first along transitions that cost nothing; an answer of a person or a new invocation
   * starts its own search. X3
   */
  explorePaths(flow: Flow, options: ScalarsByName): void {
    this.#domains = findDomains(flow, options);
    const roots: Node[] = [{ run: startRun(flow, options), unproved: new Set() }];
    for (let root = roots.pop(); root !== undefined; root = roots.pop()) {
      const onPath = new Map<string, number>();
      const path: Frame[] = [];

      const enter = (node: Node): void => {
        const key = buildStateKey(node.run, node.unproved);
        const cycleStart = onPath.get(key);
        if (cycleStart !== undefined) {
          return this.#reportCycle(path.slice(cycleStart).map((frame) => frame.transitions.place));
        }

        if (this.#explored.has(key) || this.#gaveUp) return;
        if (++this.#states >= this.#statesMax) this.#gaveUp = true;
        const transitions = this.#transitionsFrom(node);
        if (transitions === null) return void this.#explored.add(key);
        roots.push(...transitions.paid);
        onPath.set(key, path.length);
        path.push({ key, transitions, nextIndex: 0 });
      };
      enter(root);

      for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
        const transition = frame.transitions.free[frame.nextIndex++];
        if (transition !== undefined) {
          enter(transition());
          continue;
        }

        path.pop();
        onPath.delete(frame.key);
        this.#explored.add(frame.key);
      }
    }
  }

  /**
   * Follows what is deterministic, in place, to the next branch; null if the flow itself is broken.
   */
  #transitionsFrom(node: Node): Transitions | null {
    const { run } = node;
    try {
      for (let n = 0; n < recordsMax; n++) {
        const next = decide(run);
        if (next.do === "record") {
          this.#checkCompletion(node, next.event);
          applyEvent(run, next.event);
        } else if (next.do === "survey") {
          applyEvent(run, { event: "artifacts_surveyed", gone: [], proved: [] });
        } else if (next.do === "read") {
          applyEvent(run, { event: "phases_read", phases: [{ id: "1", after: [] }] });
        } else if (next.do === "attempt") {
          return this.#attemptTransitions(node, next.event);
        } else if (next.do === "rest") {
          return this.#restTransitions(node);
        } else {
          return this.#reportBroken(run, `decide says ${next.do} where nothing is under way`);
        }

        normalizeState(run);
      }

      this.#reportCycle([describePlace(run)]);
      return null;
    } catch (error) {
      if (!(error instanceof InvariantBroken)) throw error;
      return this.#reportBroken(run, error.message);
    }
  }

  #attemptTransitions(
    { run, unproved }: Node,
    event: Extract<Draft, { event: "step_started" }>,
  ): Transitions {
    const { attempt, walk } = event;
    const step = findStep(run, getCursor(run, walk), event.step);
    applyEvent(run, event);
    const place = `${walk}/${step.id}`;

    const transitionsFor = (branches: readonly Branch[]): Transitions => ({
      place,
      paid: [],
      free: branches.map(({ drafts, isProved }, index) => (): Node => {
        const branchRun = index === branches.length - 1 ? run : copyRun(run); // not returned to after the last
        for (const draft of drafts) applyEvent(branchRun, draft);
        normalizeState(branchRun);

        return { run: branchRun, unproved: updateUnproved(unproved, walk, isProved) };
      }),
    });

    if (step.tasks !== undefined) {
      const isProved = areTasksProved(step.tasks.each);
      return transitionsFor(
        taskVariants(step).map(({ waves, left }) => ({
          drafts: [{ event: "tasks_read", attempt, waves, left }],
          isProved,
        })),
      );
    }

    const isAgent = step.agent !== undefined;
    const changesNothing = !isAgent || step.keeps?.every((pattern) => pattern === "!**") === true;
    const { reports, isCut } = listPossibleReports(step, this.#domains);
    this.#hasCutReports ||= isCut;

    const branches = reports.flatMap(({ facts, says }, index): readonly Branch[] => {
      const turn = isAgent ? [exploredEvents.turn(attempt, says)] : [];
      const passed: Branch = {
        drafts: [...turn, { event: "step_completed", attempt, facts, progress: true }],
        isProved: isGate(step) || (changesNothing ? null : false),
      };

      const failed: Branch = {
        drafts: [
          ...turn,
          {
            event: "step_failed",
            attempt,
            facts,
            progress: true,
            fingerprint: "explored",
            reason_code: "explored",
          },
        ],
        isProved: changesNothing ? null : false,
      };

      return index === 0 || step.otherwise?.some(({ when }) => when !== undefined) === true
        ? [passed, failed]
        : [passed];
    });
    return transitionsFor(branches);
  }

  /** People give every answer they may; a pause is resumed; a rest is continued. */
  #restTransitions({ run, unproved }: Node): Transitions | null {
    if (run.status === "completed" || run.status === "stopped") {
      this.#ends[run.status]++;
      return null;
    }

    if (run.status === "paused" && run.reason === "nothing_can_move") {
      this.#addFinding({
        kind: "dead_end",
        ...parsePlace(describePlace(run)),
        message: `nothing can move at ${describePlace(run)}`,
      });
    }

    const branch = (drafts: readonly Draft[]): Node => {
      const copy = copyRun(run);
      for (const draft of drafts) applyEvent(copy, draft);
      if (copy.status === "paused") {
        applyEvent(copy, {
          event: "run_resumed",
          request: "resume",
          from_state: "paused",
          to_state: "running",
        });
      }

      normalizeState(copy);
      return { run: copy, unproved: new Set(unproved) };
    };

    const place = describePlace(run);
    if (run.status === "running") {
      return { place, free: [], paid: [branch([exploredEvents.opened(run.opening + 1)])] };
    }

    const answers = Object.values(run.blocks).flatMap(({ block, options }) => {
      const replies = Object.keys(options).length === 0 ? ["words"] : Object.keys(options);
      return replies.map((answer): Draft => ({
        event: "block_answered",
        request: "answer",
        block,
        answer,
      }));
    });

    return {
      place,
      free: [],
      paid: answers.length === 0 ? [branch([])] : answers.map((answer) => branch([answer])),
    };
  }

  /**
   * X1: what a completed run skipped. Closing and completion steps may report failure and continue.
   */
  #checkCompletion({ run, unproved }: Node, event: Draft): void {
    if (event.event === "step_skipped" && getCursor(run, event.walk).reply !== null) {
      unproved.delete(event.walk);
    } // A person has looked and let it pass.

    if (event.event !== "phase_completed" && event.event !== "task_completed") return;
    const stepCursor = getCursor(run, event.walk);
    if (run.phases.find(({ id }) => id === stepCursor.phase)?.group === "after") return;
    for (const [id, outcome] of Object.entries(stepCursor.last)) {
      if (outcome.kind !== "failed" || !isGate(findStep(run, stepCursor, id))) continue;
      this.#addFinding({
        kind: "failed_proof",
        phase: stepCursor.phase,
        step: id,
        message: `${stepCursor.kind} ${stepCursor.phase} can be completed although ${id} has failed`,
      });
    }

    if (event.event !== "phase_completed" || !unproved.has(stepCursor.path)) return;
    this.#addFinding({
      kind: "unproved",
      phase: stepCursor.phase,
      step: null,
      message: `phase ${stepCursor.phase} can be completed after an agent's turn that no check or proof has judged since`,
    });
  }

  #reportCycle(places: readonly string[]): void {
    const steps = [...new Set(places)];
    this.#addFinding({
      kind: "ring",
      ...parsePlace(steps[0] ?? ""),
      message: `a ring without a count: ${steps.join(" -> ")}`,
    });
  }

  #reportBroken(run: Run, rule: string): null {
    this.#addFinding({
      kind: "broken",
      ...parsePlace(describePlace(run)),
      message: `${describePlace(run)}: ${rule}`,
    });

    return null;
  }

  #addFinding(finding: ExploreFinding): void {
    const message = finding.message.replaceAll(/@\d+|#\d+/g, "");
    this.#findings.set(`${finding.kind} ${message}`, { ...finding, message });
  }
}

function startRun(flow: Flow, options: ScalarsByName): Run {
  const run = initialState(
    toEntry(exploredEvents.drafted(flow, options), 0) as Extract<Entry, { event: "run_drafted" }>,
  );
  applyEvent(run, exploredEvents.started);
  applyEvent(run, exploredEvents.opened(1));

  return run;
}

function applyEvent(run: Run, draft: Draft): void {
  evolve(run, toEntry(draft, run.seq + 1));
}

const isGate = (step: Step): boolean => step.check !== undefined || (step.proof?.length ?? 0) > 0;

/** Whether tasks leave their phase proved; null if no agent works in them. */
function areTasksProved(each: readonly Step[]): boolean | null {
  return each.some(({ agent }) => agent !== undefined) ? each.some(isGate) : null;
}

function updateUnproved(
  unproved: ReadonlySet<string>,
  cursorPath: string,
  isProved: boolean | null,
): Set<string> {
  const updated = new Set(unproved);
  if (isProved === true) updated.delete(cursorPath);
  if (isProved === false) updated.add(cursorPath);

  return updated;
}

/** One task, none, and tasks left to people, where the flow leaves any. */
function taskVariants({ tasks }: Step): readonly {
  readonly waves: { id: string; files: string[]; after: string[] }[][];
  readonly left: string[];
}[] {
  const singleTask = [[{ id: "task", files: [], after: [] }]];
  const leftVariants =
    tasks?.leave === undefined
      ? []
      : [
          { waves: singleTask, left: ["left"] },
          { waves: [], left: ["left"] },
        ];

  return [{ waves: singleTask, left: [] }, { waves: [], left: [] }, ...leftVariants];
}

/**
 * Where the run is, for a person: the phase under way, else a failed one, and the step of it that
 * ended last.
 */
function describePlace(run: Run): string {
  const openPhase =
    run.phases.find(({ status }) => status === "open") ??
    run.phases.find(({ status }) => status === "failed");
  const cursor = openPhase === undefined ? undefined : run.cursors[openPhase.id];
  if (cursor === undefined) return openPhase?.id ?? "";

  return `${cursor.path}/${Object.keys(cursor.last).at(-1) ?? ""}`;
}

function parsePlace(place: string): { readonly phase: string; readonly step: string | null } {
  const [path = "", ...rest] = place.split("/");
  const step = rest.at(-1);
  return {
    phase: path.replace(/@\d+$/, ""),
    step: step === undefined || step === "" ? null : step.replace(/#\d+$/, ""),
  };
}
