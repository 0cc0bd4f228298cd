// state: the state of a run, folded from its journal. Plain data, so that a snapshot is its JSON.
// Outside `fold` it is read-only: fold owns its state privately and changes it in place, because
// copying it per event is quadratic.

import type { Dimension, Usage } from "../contracts/budget.ts";
import type {
  Check,
  CheckResult,
  ClaimChecked,
  ReviewPoint,
  ProtectedChange,
} from "../contracts/evidence.ts";
import type { CrashState } from "../contracts/crash-state.ts";
import type { EventOf, IsolationInForce, ProviderFault } from "../contracts/event.ts";
import type { Actor, AttemptId, BlockId, CursorPath } from "../contracts/ids.ts";
import type { RunStatus, Verdict } from "../contracts/objective.ts";
import type { OutsideEvidence, PullRequestTarget } from "../contracts/forge/pull-request.ts";
import type { Forked, ReviewNote } from "../contracts/run-parts.ts";
import type { ChildAsks, Outcome, Says } from "../contracts/outcome.ts";

export type PhaseGroup = "before" | "phases" | "after";

export type PhaseState = {
  id: string;
  group: PhaseGroup;
  name: string;
  after: string[]; // the phases it depends on
  /** `again`: the run went back before it, so it is to be run once more. */
  status: "waiting" | "open" | "completed" | "failed" | "skipped" | "again";
  visit: number; // how often it was begun
  because: string | null; // why it was skipped, failed or ended as it did
  /** A person has been shown its failure. */
  paused: boolean;
  /** Its artifacts were gone at the last survey. */
  gone: boolean;
  /** What its document says of it, and the checks that document gives it. */
  about?: string;
  checks?: Check[];
};

export type StepCursor = {
  path: CursorPath;
  kind: "phase" | "task" | "wave" | "closing";
  phase: string;
  /** For a task or wave: the id of the tasks step it belongs to. */
  of: string | null;
  /** For a task or wave: the attempt of that tasks step. */
  inside: AttemptId | null;
  /** For a task: its id as the reader gave it. */
  task: string | null;
  visit: number;
  at: number; // the position of its current step
  open: AttemptId | null;
  block: BlockId | null;
  /** Outcomes of the current round; going back forgets those at and after the target. */
  last: Record<string, Outcome>;
  /** The last outcome of each step in any round: what prompts may see. */
  seen: Record<string, Outcome>;
  ended: Record<string, number>; // how many attempts of each step have ended
  /** How often each attempt was begun: crashes and cancellations add a try, never an ordinal. */
  tries: Record<AttemptId, number>;
  streak: Record<string, number>; // how many attempts of each step have failed in a row
  taken: Record<string, number>; // how often each count was used
  because: string | null;
  reply: string | null; // a person's answer about its current step, until it is followed
  /**
   * Who answered the last question of this cursor: what follows from the answer is attributed to
   * them.
   */
  answeredBy?: Actor;
  /** The content of the changed tests that the last answer is about. */
  answeredTests?: string;
  /** A person wants the changed tests back before the next attempt. */
  putBack?: true;
  /** Failed steps that a person said to skip. */
  left_out?: string[];
  /** The session of an attempt that was cut short, for when it is begun again. */
  left?: { attempt: AttemptId; session: string };
  /** The answers that the last question of an agent of this cursor offers. */
  answers?: string[];
  /** Questions that agents of this cursor asked, with the person's answers. */
  answered?: { step: string; question: string; answer: string }[];
  /** The child run of this cursor that waits for a person, and what was answered. */
  child?: ChildAsks & { answer?: string; issues?: string[] };
  /** For a task: what its document says of it. */
  about?: string;
  /**
   * The checks that judge this cursor besides the run's own: its document's, or what a step locked
   * since.
   */
  checks?: Check[];
  /** Blob of each step's last return. */
  handed?: Record<string, string>;
  /**
   * Files that failed attempts of a gated step changed since it last passed: they count as its work
   * until it passes.
   */
  unproved?: Record<string, string[]>;
  /**
   * The first step that had passed and whose artifacts were found gone at this opening: the cursor
   * goes back to it.
   */
  lost?: string;
  result: "completed" | "failed" | "skipped" | null;
};

export type OpenAttempt = {
  attempt: AttemptId;
  cursor: CursorPath;
  step: string;
  kind: CrashState["kind"];
  /** `reading`, `walking`: a tasks step before and after its tasks are known. */
  stage: "started" | "turned" | "applied" | "reading" | "walking";
  /** The opening of the run that last drove it; an older one means it is in doubt. */
  opening: number;
  crashes: number; // how often a crash left it in doubt
  /** Usage reserved for it until its turn ends. */
  need: Usage | null;
  role: string | null;
  session: string | null;
  says: Says;
  turn: EventOf<"turn_ended"> | null;
  commit: string | null;
  tree: string | null;
  /** The paths its applied commit changed. */
  paths: string[];
  /** The notes that were open when it began: once it has changed something, they have been read. */
  noted?: string[];
  /** Its agent's claims have been checked. */
  heard?: boolean;
  /** Only for a tasks step whose tasks have cursors: their ids, wave by wave. */
  waves: string[][];
  after: Record<string, string[]>; // the tasks that each task depends on
  left: string[]; // tasks that are left to people
};

export type Block = {
  block: BlockId;
  cursor: CursorPath;
  step: string;
  hold: boolean; // whether the run waits for the answer; otherwise only its cursor does
  house: boolean; // asked by the runner or an agent, and not by a human step of the flow
  question: string;
  options: Record<string, string>;
  recommend: string | null;
  show: string[];
  /** The reason code of a pause for it. */
  code: string;
  /** The options are suggestions: any text is an answer too. */
  free?: boolean;
  /** The changed tests that it is about, in exactly this content. */
  tests?: { content: string; paths: string[] };
};

/**
 * A turn's position in the order in which turns first began; set-aside tries keep it, finished ones
 * have used it.
 */
export type TurnPlace = {
  attempt: AttemptId;
  phase: string;
  step: string;
  role: string;
  task: string | null;
  ordinal: number;
  asks: number;
  isOver: boolean;
};

export type SpentAmounts = {
  tokens: number;
  minutes: number;
  calls: number;
  usd: number;
  estimated: number;
};

export type Ledger = {
  run: SpentAmounts;
  phase: Record<string, SpentAmounts>;
  /** The largest turn of each role so far: what its next one is expected to need. */
  largest: Record<string, Usage>;
};

/** A limit without room for the next turn, and what it must be raised to. */
export type ShortLimit = {
  scope: "run" | "phase";
  dimension: Dimension;
  limit: number;
  to: number;
};

export type Breaker = {
  state: "closed" | "open" | "half_open";
  no_progress: number; // attempts in a row without progress
  same: number; // how often the last error came in a row
  last_error: string | null; // as `errorFingerprint` reduces it
  /** The step whose error that was. */
  failed_step?: string;
  /** The newest failure that counts: its reason and its details. */
  cause?: { reason: string; detail: string };
  probed: "passed" | "failed" | null; // how the one attempt of a half-open breaker ended
  because: string | null;
  cooldown_until: string | null;
  detail?: string;
  /** If it opened for a limit: the limits that are short. */
  short?: readonly ShortLimit[];
  /** How often it has opened since it last closed: the cooldown doubles with it. */
  opened: number;
};

/** The pull request of a run that is over. */
export type PullRequestState = {
  place: PullRequestTarget;
  /** The proved commit that is, or will be, at the head of its branch. */
  commit: string;
  opened: { number: number; url: string; draft: boolean } | null;
  /** Findings there that have been worked on, by key. */
  taken: string[];
  tries: number; // how many runs have worked on findings
  /** The run that works on the findings. */
  under_way: string | null;
  ended: "merged" | "closed" | null;
};

/**
 * What the runner knows of one check: its first result is the baseline, unless something had been
 * changed by then.
 */
export type CheckState = { baseline: CheckResult; latest: CheckResult; isLate?: true };

export type Run = {
  status: RunStatus;
  reason: string | null;
  detail: string | null;
  drafted: EventOf<"run_drafted">;
  acknowledged: boolean;
  verdict: Verdict | null;
  gaps: string[];
  /** Limits in force, raised ones included: `run.tokens`, `phase.minutes`, … */
  limits: { run: Record<string, number>; phase: Record<string, number> };
  opening: number; // how often a process has opened the run to drive it
  /** Options of this opening alone, over those of the run. */
  overrides: Record<string, string | number | boolean>;
  isolation: IsolationInForce | null;
  surveyed: number; // the opening whose survey of artifacts was the last
  proved: string[]; // phases whose artifacts were all there at that survey
  isRead: boolean; // whether its phases are known
  phases: PhaseState[];
  cursors: Record<CursorPath, StepCursor>;
  open: Record<AttemptId, OpenAttempt>;
  blocks: Record<BlockId, Block>;
  /** Requests already journaled. */
  requests: Record<string, true>;
  asked: "pause" | "stop" | null; // what a person asked for and has not happened yet
  /** Who asked for it and in which words: the change of state that follows is theirs. */
  asker: { actor: Actor; detail?: string } | null;
  now: boolean; // a requested pause cancels attempts instead of waiting for them
  hold: string | null; // the reason code of a pause that comes as soon as nothing is live
  /** What the interruption or the failed step reported that caused the hold. */
  heldBy?: { reason: string; by: EventOf<"step_interrupted">["by"] | "step"; detail: string };
  /**
   * The model provider refused: what was wrong, until when if it said so, and how often in a row
   * that held the run up.
   */
  parked?: {
    fault: ProviderFault;
    until: string | null;
    detail: string;
    times: number;
    role?: string;
  };
  /** Agents at their provider's limit, and until when; only of roles that name several. */
  limited?: Record<string, string>;
  resting: string | null; // why this opening does no more, as a row of the flow says
  /** A phase whose turn used more than a limit allows, until that limit is raised. */
  overdrawn?: string;
  /** Notes of people on the change that no turn with a change has read yet. */
  notes?: { request: string; commit: string; actor: Actor; notes: ReviewNote[] }[];
  /** Comments and failed checks of a pull request, for the run that works on it. */
  outside?: { source: string; items: OutsideEvidence[] };
  pull_request?: PullRequestState;
  /** The limits that caused the pause, and what each must be raised to. */
  short?: readonly ShortLimit[];
  /** The question that the run is paused for has been answered. */
  decided?: true;
  taken: Record<string, number>; // how often each count of the run was used
  invocation: Record<string, number>; // the same for counts of this opening
  finished: number; // phases ended since the last pause
  retries: number;
  violations: number; // of the scope, or by secrets in files
  /**
   * The last attempt that left its scope or wrote a secret into a file, and how: the agent is told
   * when it tries again.
   */
  violation: { attempt: AttemptId; paths: string[]; detail: string; by?: "secret" } | null;
  ledger: Ledger;
  breaker: Breaker;
  checks: Record<string, CheckState>;
  /** The newest verdict a step of the runner's own recorded, with what it left unproved. */
  judged: { verdict: Verdict; gaps: string[] } | null;
  /** How many steps passed by their own proof. */
  gated?: number;
  /** The results of child runs of passed steps, by step. */
  called?: Record<string, Verdict>;
  /** Artifacts that satisfy a gate but have no real content, and why. */
  hollow?: Record<string, string>;
  /**
   * Changes to protected files at the last check; `content`: the hash of exactly these, which a
   * person can approve.
   */
  oracles?: { content: string; changes: ProtectedChange[]; look?: ReviewPoint[] };
  /** Changed tests that were put back because a person said so. */
  putBack?: string[];
  approved?: string[]; // hashes of changes that a person approved
  held?: string[]; // hashes of changes that a person has to look at before the work is merged
  /** Where it was forked from, oldest first, with the commit its own branch begins at. */
  origins?: (Forked & { tip: string })[];
  /** Claims of agents that the next check of their cursor decides. */
  waiting?: {
    attempt: AttemptId;
    agent: string;
    role: string;
    model?: string;
    claims: ClaimChecked[];
  }[];
  /** How agents' claims compare with what was found, and which were false. */
  truth?: {
    by: Record<
      string,
      { agent: string; role: string; true: number; false: number; unverifiable: number }
    >;
    refuted: { attempt: AttemptId; text: string; why: string }[];
  };
  /** Tree hashes seen per phase, for progress. */
  trees: Record<string, string[]>;
  turns: TurnPlace[];
  /** The run's branch as the journal knows it. */
  tip: { commit: string; tree: string };
  seq: number;
  activeMs: number; // how long processes have had the run open, by the journal's clock
  /** How much of that the run was paused: waiting for people or providers isn't work. */
  pausedMs?: number;
  startedAt: string | null;
  updatedAt: string;
};

export type RunState = { status: "unborn" } | Run;

type DeepReadonly<T> = T extends (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;
/** A run as all code but `fold` sees it. */
export type RunView = DeepReadonly<Run>;
export type RunStateView = { readonly status: "unborn" } | RunView;
export type FlowView = RunView["drafted"]["flow"];
export type CursorView = DeepReadonly<StepCursor>;
export type OpenAttemptView = DeepReadonly<OpenAttempt>;
export type OutcomeView = DeepReadonly<Outcome>;
