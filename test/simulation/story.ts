import type { RunView, CursorView } from "../../src/core/state.ts";
import type { RunRequest } from "../../src/ports/request-queue.ts";

/** Where something happens in a run. */
export type Place = {
  readonly phase: string;
  readonly step: string;
  /** A task's id, `wave-1` for the steps after a wave, null in a phase. */
  readonly task: string | null;
  readonly n: number;
  readonly visit: number;
  readonly run: RunView;
  readonly cursor: CursorView;
};

export type TaskPlan = {
  readonly id: string;
  readonly files: readonly string[];
  readonly after: readonly string[];
};

/** What happens there: nothing said means that all goes well. */
export type Plan = {
  readonly fail?: string;
  readonly facts?: Record<string, string | number | boolean>;
  readonly says?: Record<string, string | number | boolean>;
  readonly changes?: boolean;
  /** The file it changes; each attempt one of its own unless told. */
  readonly file?: string;
  /** What it changes is not among what its step keeps. */
  readonly isLeftOut?: boolean;
  readonly tokens?: number;
  readonly cut?: "cancel" | "deadline" | "provider";
  readonly turnFails?: string;
  readonly leavesScope?: boolean;
  readonly isDoneEarly?: boolean;
  readonly tasks?: readonly TaskPlan[];
  readonly left?: readonly string[];
};

/**
 * What a reader of phases finds: whether a person has been there since the document could not be
 * read.
 */
export type Reading = { readonly read: true; readonly isFixed: boolean };
export type Script = (place: Place | Reading) => Plan | null;

/**
 * A whole run as a story: its flow, what happens in it, what the people do, and how it must end.
 */
export type Story = {
  readonly name: string;
  readonly flow: string;
  readonly options?: Record<string, string | number | boolean>;
  readonly limits?: { run?: Record<string, number>; phase?: Record<string, number> };
  /** Artifacts that are there before it begins, as `phase/step`. */
  readonly files?: readonly string[];
  readonly script: Script;
  /** What people ask for when the run rests; null: nothing more. */
  readonly people?: (run: RunView, why: string) => readonly Omit<RunRequest, "actor">[] | null;
  /** A crash changes what happens here on purpose (an invocation ends, a violation counts). */
  readonly isCrashFree?: boolean;
  /** It takes long and is played many times elsewhere: fewer moments of it are tried. */
  readonly isLong?: boolean;
  readonly endsWell: (run: RunView, journal: readonly { readonly event: string }[]) => boolean;
};
