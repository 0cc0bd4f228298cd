// plan-agreed: proof that the plan checker approved the plan with enough confidence.

import { readField, readReturn } from "../../contract/agent-return.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { findOpenStep } from "./written-document.ts";

/** Of 10, as the prompt of the checker explains. */
const confidenceMin = 7;
const issuesShownMax = 20;

/**
 * The proof `plan_agreed`. The checker can reject a plan; its approval alone is not enough, since
 * lint must pass too.
 */
export function createPlanAgreedProof(parts: RoadmapParts) {
  return {
    version: 1,
    prove({ state, cursor }: StepInput): StepResult {
      const verdict = readReturn(parts, cursor, findOpenStep(state, cursor).id);
      const [pass, confidence] = [readField(verdict, "pass"), readField(verdict, "confidence")];
      const isSure = typeof confidence === "number" && confidence >= confidenceMin;
      const facts = { agreed: pass === true && isSure };
      if (facts.agreed) return Promise.resolve({ ok: true, facts });
      const issues = readField(verdict, "issues");
      const issueLines = (Array.isArray(issues) ? issues : [])
        .slice(0, issuesShownMax)
        .map(issueText);

      const why =
        pass === true
          ? `the checker's confidence is ${String(confidence)}, expected ${confidenceMin} or more`
          : "the checker does not let it pass";

      return Promise.resolve({ ok: false, facts, detail: [why, ...issueLines].join("\n") });
    },
  };
}

function issueText(issue: unknown): string {
  if (typeof issue === "string") return `- ${issue}`;
  const [plan, hint] = [textField(issue, "plan"), textField(issue, "fix_hint")];
  const subject = [textField(issue, "severity"), ...(plan === "" ? [] : [plan])].join(" ");
  const description = [textField(issue, "description"), ...(hint === "" ? [] : [`(${hint})`])].join(
    " ",
  );

  return `- ${subject}: ${description}`;
}

function textField(value: unknown, name: string): string {
  const text = readField(value, name);
  return typeof text === "string" ? text : "";
}
