// explore: model-checks a flow: walks every path over abstract outcomes, with the same decide and
// fold that run it.
//
// Invariants it looks for:
//   X1. No phase is completed past a failed check or proof, nor after an agent's turn that nothing
//       has proved since.
//   X2. Nothing is a dead end, and the end can be reached.
//   X3. Every cycle passes a count, a person or a new invocation.

import type { Draft, Entry } from "../contracts/event.ts";
import type { Flow } from "../contracts/flow.ts";
import { decide } from "../core/decide.ts";
import { initialState } from "../core/initial-state.ts";
import { getCursor } from "../core/selectors.ts";
import type { Run } from "../core/state.ts";
import { InvariantBroken } from "../kit/invariant.ts";
import { buildStateKey, normalizeState } from "./explore-state.ts";
import {
  type Domains,
  findDomains,
  listOptionSets,
  withSmallBounds,
  type ScalarsByName,
} from "./explore-domains.ts";
import { exploredEvents, toEntry } from "./explore-draft.ts";
import {
  describePlace,
  type ExploreFinding,
  ExploreFindings,
  findUnprovedCompletion,
} from "./explore-findings.ts";
import {
  applyEvent,
  listAttemptTransitions,
  listRestTransitions,
  type Node,
  type Transitions,
} from "./explore-transitions.ts";

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

/** A state on the current path, and which of its free transitions comes next. */
type Frame = { readonly key: string; readonly transitions: Transitions; nextIndex: number };
/** A search from one state along transitions that cost nothing. */
type Search = {
  readonly path: Frame[];
  /** Where on the path each of its states is. */
  readonly indexByKey: Map<string, number>;
  /** The states behind transitions that cost something: each starts a search of its own. */
  readonly paidNodes: Node[];
};

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
  readonly #findings = new ExploreFindings();
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
    if (this.#ends.completed === 0 && !gaveUp) this.#findings.addWithoutEnd(); // X2

    return {
      states: this.#states,
      gaveUp,
      ends: { ...this.#ends },
      findings: this.#findings.list(),
    };
  }

  explorePaths(flow: Flow, options: ScalarsByName): void {
    this.#domains = findDomains(flow, options);
    const roots: Node[] = [{ run: startRun(flow, options), unproved: new Set() }];
    for (let root = roots.pop(); root !== undefined; root = roots.pop()) {
      roots.push(...this.#exploreFrom(root));
    }
  }

  /**
   * Explores, depth first, what can be reached at no cost. Returns the states behind an answer of a
   * person or a new invocation, which start searches of their own: a cycle through them is allowed.
   * X3
   */
  #exploreFrom(root: Node): readonly Node[] {
    const search: Search = { path: [], indexByKey: new Map(), paidNodes: [] };
    this.#enter(search, root);

    for (let frame = search.path.at(-1); frame !== undefined; frame = search.path.at(-1)) {
      const takeTransition = frame.transitions.freeTransitions[frame.nextIndex++];
      if (takeTransition !== undefined) {
        this.#enter(search, takeTransition());
        continue;
      }

      search.path.pop();
      search.indexByKey.delete(frame.key);
      this.#explored.add(frame.key);
    }

    return search.paidNodes;
  }

  /** Puts a state onto the path, unless it is on it already or was explored before. */
  #enter({ path, indexByKey, paidNodes }: Search, node: Node): void {
    const key = buildStateKey(node.run, node.unproved);
    const cycleStart = indexByKey.get(key);
    if (cycleStart !== undefined) {
      const places = path.slice(cycleStart).map(({ transitions }) => transitions.place);
      this.#findings.addCycle(places); // X3
      return;
    }

    if (this.#explored.has(key) || this.#gaveUp) return;
    this.#states++;
    if (this.#states >= this.#statesMax) this.#gaveUp = true;

    const transitions = this.#findTransitions(node);
    if (transitions === null) {
      this.#explored.add(key);
      return;
    }

    paidNodes.push(...transitions.paidNodes);
    indexByKey.set(key, path.length);
    path.push({ key, transitions, nextIndex: 0 });
  }

  /** Null at the end of a path, and if the flow itself is broken. */
  #findTransitions(node: Node): Transitions | null {
    try {
      return this.#followToBranch(node);
    } catch (error) {
      if (!(error instanceof InvariantBroken)) throw error;
      this.#findings.addBroken(node.run, error.message);
      return null;
    }
  }

  /** Follows what is deterministic, in place, to the next branch. */
  #followToBranch(node: Node): Transitions | null {
    const { run } = node;
    for (let count = 0; count < recordsMax; count++) {
      const next = decide(run);
      switch (next.do) {
        case "record":
          this.#checkRecorded(node, next.event);
          applyEvent(run, next.event);
          break;
        case "survey":
          applyEvent(run, { event: "artifacts_surveyed", gone: [], proved: [] });
          break;
        case "read":
          applyEvent(run, { event: "phases_read", phases: [{ id: "1", after: [] }] });
          break;
        case "attempt":
          return this.#branchAtAttempt(node, next.event);
        case "rest":
          return this.#branchAtRest(node);
        default:
          this.#findings.addBroken(run, `decide says ${next.do} where nothing is under way`);
          return null;
      }

      normalizeState(run);
    }

    this.#findings.addCycle([describePlace(run)]);
    return null;
  }

  #checkRecorded({ run, unproved }: Node, event: Draft): void {
    const isSkippedByPerson =
      event.event === "step_skipped" && getCursor(run, event.walk).reply !== null;
    if (isSkippedByPerson) unproved.delete(event.walk); // a person has looked and let it pass

    for (const finding of findUnprovedCompletion(run, unproved, event)) {
      this.#findings.add(finding); // X1
    }
  }

  #branchAtAttempt(
    node: Node,
    started: Extract<Draft, { event: "step_started" }>,
  ): Transitions | null {
    const { transitions, isCut } = listAttemptTransitions(node, started, this.#domains);
    this.#hasCutReports ||= isCut;
    return transitions;
  }

  #branchAtRest(node: Node): Transitions | null {
    const { run } = node;
    if (run.status === "completed" || run.status === "stopped") {
      this.#ends[run.status]++;
      return null;
    }

    const isDeadEnd = run.status === "paused" && run.reason === "nothing_can_move";
    if (isDeadEnd) this.#findings.addDeadEnd(run); // X2
    return listRestTransitions(node);
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
