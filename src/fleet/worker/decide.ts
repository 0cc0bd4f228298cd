// decide: decides what a worker does next. Pure: the loop around it queries the store and acts.

export type WorkerView = {
  /** Whether its own lease is confirmed: a worker that isn't sure of it takes nothing. */
  readonly isSure: boolean;
  /** Why it has lost its name; null while it has it. */
  readonly lostBecause: string | null;
  readonly isDraining: boolean;
  readonly activeJobs: number;
  readonly jobsMax: number;
};

export type WorkerStep =
  | { readonly do: "take" }
  /** Until something ends, or it is time to look again. */
  | { readonly do: "wait" }
  | { readonly do: "leave"; readonly why: string | null };

export function decideNextStep({
  isSure,
  lostBecause,
  isDraining,
  activeJobs,
  jobsMax,
}: WorkerView): WorkerStep {
  if (lostBecause !== null)
    return activeJobs > 0 ? { do: "wait" } : { do: "leave", why: lostBecause };
  if (isDraining) return activeJobs > 0 ? { do: "wait" } : { do: "leave", why: null };
  return isSure && activeJobs < jobsMax ? { do: "take" } : { do: "wait" };
}
