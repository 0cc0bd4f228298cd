// playbook: the interface of a playbook: which documents its runs follow, which files it generates,
// and which runs of other tools it recognises. A flow names its playbook (`playbook: NAME`);
// registry/table.ts knows them by name, and nothing else does.
//
// Invariants:
//   W1. A playbook's files are generated from the journal, after acknowledgements; generating them
//       decides nothing (kept in file-writer.ts).
//   W2. The documents that a run follows are read before it begins and recorded with it
//       (`PreparedRun.documents`). Before a resume they are read again, only to report changes or
//       to record those that a person accepts.

import type { LoadedFlow } from "../../flows/load.ts";
import type { Draft, Entry } from "../../contracts/event.ts";
import type { Scalar } from "../../contracts/flow.ts";
import type { Resumed } from "../../contracts/resumed.ts";
import type { LiveEvent } from "../../contracts/live-event.ts";
import type { RunView } from "../../core/state.ts";
import type { Estimate } from "../../views/preview.ts";
import type { Finding } from "../../kit/finding.ts";
import type { GoInput } from "./go-input.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import type { CommandContext } from "../../project/command-context.ts";

/** Read from the user's documents when a run is drafted. */
export type PreparedRun = {
  /** The goal if the user gave none. */
  readonly goal?: string;
  /** The default scope. */
  readonly scope?: readonly string[];
  /** Values of the flow's own options; the command line overrides them. */
  readonly options: Readonly<Record<string, Scalar>>;
  /** Option values that only the documents decide; the command line cannot override them. */
  readonly facts?: Readonly<Record<string, Scalar>>;
  /** The documents in force, kept whole as blobs and named in `run_drafted.documents`. */
  readonly documents: readonly { readonly path: string; readonly text: string }[];
  /** Limits the documents set, by the tunable names of the config. */
  readonly limits?: Readonly<Record<string, number>>;
  /** Tokens that the requested work will probably take; the default budget is derived from it. */
  readonly estimate?: number;
  /** Commands of the project's own that the documents name; they are run as its checks. */
  readonly checks?: readonly string[];
  readonly warnings: readonly string[];
  /** The run of another tool that this one continues, and where. */
  readonly resumes?: Resumed;
};

export type PrepareInput = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly input: GoInput;
  /** A flow that may run here, by its name. */
  readonly loadFlow: (name: string) => Promise<LoadedFlow>;
};

/**
 * Before a run is resumed: what is journaled first (an accepted change, a corrected document), and
 * what is reported.
 */
export type PreparedResume = {
  readonly events: readonly Draft[];
  /** Texts that the events name by hash: they are kept first. */
  readonly blobs?: readonly string[];
  readonly warnings: readonly string[];
};
export type PrepareResumeInput = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly view: RunView;
  /** Flags of this invocation, by name: `accept-spec-change`, `continue`. */
  readonly flags: ReadonlySet<string>;
};

/** Everything a playbook needs to write its files. */
export type PlaybookParts = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  /** The run's own folder, for what a playbook must keep between two processes. */
  readonly folder: string;
  readonly view: () => RunView;
  /** The whole journal so far, read again: only at opening. */
  readonly entries: () => Iterable<Entry>;
  readonly readBlob: (hash: string) => Buffer | null;
  /** The user's checkout: where the files go. */
  readonly root: string;
};

/** A playbook while its run is active. */
export type OpenedPlaybook = {
  /** Called for each acknowledged entry. Synchronous and cheap. */
  readonly onEntry: (entry: Entry, run: RunView) => void;
  readonly onLiveEvent?: (liveEvent: LiveEvent, now: string) => void;
  /**
   * Writes the files that have changed; never called twice at once. `now` is recorded as the last
   * sign of life.
   */
  readonly writeFiles: (now: string) => Promise<void>;
  /** Called after the last write, before the run is closed. */
  readonly close?: () => Promise<void>;
  /** Warnings about written files since the last call. */
  readonly takeWarnings?: () => readonly string[];
  /** For the prompt of a phase's agents: decisions, and where an earlier session stopped. */
  readonly phaseNotes?: (phase: string) => string;
  /**
   * Learnings for a role's prompt. `passes` tells whether a command passes on the current tree;
   * null if unknown.
   */
  readonly learnings?: (
    role: string,
    passes: (command: string) => Promise<boolean | null>,
  ) => Promise<string>;
};

export type PlaybookPreview = {
  /** One line each. */
  readonly summary: readonly string[];
  /** Null if nothing better is known than the budget. */
  readonly estimate: Estimate | null;
};
export type PreviewInput = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly view: RunView;
};

/** A run that another tool began: it has files but no journal. */
export type ForeignRun = {
  readonly flow: string;
  readonly files: readonly string[];
  /** One sentence for `status`. */
  readonly summary: string;
  /** What `resume` starts a run of our own with. */
  readonly options: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
  /** It ended in failure: only `resume` continues it. */
  readonly hasFailed?: boolean;
};

/**
 * A project with nothing left to do: a sentence, its status summary, and what could be done anyway.
 */
export type FinishedProject = {
  readonly message: string;
  readonly summary: readonly string[];
  readonly next: readonly string[];
};

export type Playbook = {
  /**
   * Paths in the user's checkout that belong to the runner: never on the run's branch, absent from
   * agents' folders, not counted as uncommitted changes.
   */
  readonly ownedPaths: readonly string[];
  /**
   * Reads the user's documents before a run is drafted. If they have faults, it refuses and lists
   * every fault at once.
   */
  readonly prepare?: (input: PrepareInput) => Promise<PreparedRun>;
  /** What a drafted run will do, to be shown before it starts. */
  readonly preview?: (input: PreviewInput) => Promise<PlaybookPreview>;
  readonly prepareResume?: (input: PrepareResumeInput) => Promise<PreparedResume>;
  readonly open: (parts: PlaybookParts) => Promise<OpenedPlaybook>;
  /**
   * Documents from which a run of it can begin here, if nothing has been begun; null if there are
   * none. Reads only.
   */
  readonly documents?: (
    context: CommandContext,
    root: string,
  ) => Promise<Omit<ForeignRun, "findings"> | null>;
  /**
   * A finished project of this playbook: what is shown of it. Null if there is none. Reads only.
   */
  readonly findFinished?: (root: string) => Promise<FinishedProject | null>;
  /** Null if no run of another tool is found. Reads only. */
  readonly findForeign?: (context: CommandContext, root: string) => Promise<ForeignRun | null>;
};
