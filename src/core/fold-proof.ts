import { invariant } from "../kit/invariant.ts";
import { type LawsOf, once, openIn } from "./law.ts";
import { own, put } from "./record.ts";

const falseClaimsMax = 50;
const approvalsMax = 100;

export const proofLaws: LawsOf<"oracles_judged" | "oracles_approved" | "claims_checked"> = {
  oracles_judged: (run, { attempt, content, changes }) => {
    openIn(run, attempt);
    run.oracles = { content, changes: changes.map((change) => ({ ...change })) };
  },
  oracles_approved: (run, { request, content }) => {
    invariant(run.status === "running" || run.status === "paused", "F1: oracles are approved while the run is open");
    once(run, request);
    run.approved = [...(run.approved ?? []), content].slice(-approvalsMax);
  },
  claims_checked: (run, { attempt, agent, role, claims }) => {
    const truth = (run.truth ??= { by: {}, refuted: [] });
    const key = `${agent} ${role}`;
    const tally = own(truth.by, key) ?? { agent, role, true: 0, false: 0, unverifiable: 0 };
    for (const { verdict, text, why } of claims) {
      tally[verdict]++;
      if (verdict === "false") truth.refuted.push({ attempt, text, why });
    }
    truth.refuted.splice(0, Math.max(0, truth.refuted.length - falseClaimsMax));
    put(truth.by, key, tally);
  },
};
