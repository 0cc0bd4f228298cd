// plan-agreed: proof that the plan checker approved the plan with enough confidence.

import { fieldOf, readReturn } from "./agent-return.ts";
import type { StepResult, StepInput, RoadmapParts } from "./parts.ts";
import { openStep } from "./written.ts";

const confidenceMin = 7;
const issuesShownMax = 20;

/** A named proof. The checker can reject a plan; its approval alone is not enough, since lint must pass too. */
export function planAgreed(parts: RoadmapParts) {
  return {
    version: 1,
    prove({ state, cursor }: StepInput): StepResult {
      const verdict = readReturn(parts, cursor, openStep(state, cursor).id);
      const [pass, confidence] = [fieldOf(verdict, "pass"), fieldOf(verdict, "confidence")];
      const isSure = typeof confidence === "number" && confidence >= confidenceMin;
      const facts = { agreed: pass === true && isSure };
      if (facts.agreed) return Promise.resolve({ ok: true, facts });
      const issues = fieldOf(verdict, "issues");
      const issueLines = (Array.isArray(issues) ? issues : []).slice(0, issuesShownMax).map(issueText);
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
  const [severity, plan, description, hint] = ["severity", "plan", "description", "fix_hint"].map((name) => textField(issue, name));
  return `- ${severity}${plan === "" ? "" : ` ${plan}`}: ${description}${hint === "" ? "" : ` (${hint})`}`;
}

function textField(value: unknown, name: string): string {
  const word = fieldOf(value, name);
  return typeof word === "string" ? word : "";
}
