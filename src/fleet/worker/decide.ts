// decide: decides what a worker does next. Pure: the loop around it queries the store and acts.

export type WorkerView = {
  /** Whether its own lease is confirmed: a worker that isn't sure of it takes nothing. */
  readonly isSure: boolean;
  /** Why it has lost its name; null while it has it. */
  readonly lost: string | null;
  readonly isDraining: boolean;
  readonly active: number;
  readonly jobs: number;
};

export type WorkerStep =
  | { readonly do: "take" }
  /** Until something ends, or it is time to look again. */
  | { readonly do: "wait" }
  | { readonly do: "leave"; readonly why: string | null };

export function decideNextStep({ isSure, lost, isDraining, active, jobs }: WorkerView): WorkerStep {
  if (lost !== null) return active > 0 ? { do: "wait" } : { do: "leave", why: lost };
  if (isDraining) return active > 0 ? { do: "wait" } : { do: "leave", why: null };
  return isSure && active < jobs ? { do: "take" } : { do: "wait" };
}
