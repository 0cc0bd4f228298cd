// decide: what a worker does next, from what it knows. Pure: the loop around it asks the store and carries it out.

export type WorkerView = {
  /** Whether its own lease is confirmed: what is not certain takes nothing. */
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

export function nextStep({ isSure, lost, isDraining, active, jobs }: WorkerView): WorkerStep {
  if (lost !== null) return active > 0 ? { do: "wait" } : { do: "leave", why: lost };
  if (isDraining) return active > 0 ? { do: "wait" } : { do: "leave", why: null };
  return isSure && active < jobs ? { do: "take" } : { do: "wait" };
}
