// plan-agreed: proof that the plan checker approved the plan with enough confidence.

import { parseField, handedBy } from "./handed.ts";
import type { StepResult, StepInput, RoadmapParts } from "./parts.ts";
import { openStep } from "./written.ts";

const confidenceMin = 7;
const issuesShownMax = 20;

/** A named proof: the plan's checker lets it pass, and is sure enough of it. Its word may send a plan back; it lets none through alone. */
export function planAgreed(parts: RoadmapParts) {
  return {
    version: 1,
    prove({ state, cursor }: StepInput): StepResult {
      const said = handedBy(parts, cursor, openStep(state, cursor).id);
      const [pass, confidence] = [parseField(said, "pass"), parseField(said, "confidence")];
      const isSure = typeof confidence === "number" && confidence >= confidenceMin;
      const facts = { agreed: pass === true && isSure };
      if (facts.agreed) return Promise.resolve({ ok: true, facts });
      const issues = parseField(said, "issues");
      const reported = (Array.isArray(issues) ? issues : []).slice(0, issuesShownMax).map(issueText);
      const why =
        pass === true
          ? `the checker's confidence is ${String(confidence)}, expected ${confidenceMin} or more`
          : "the checker does not let it pass";
      return Promise.resolve({ ok: false, facts, detail: [why, ...reported].join("\n") });
    },
  };
}

function issueText(issue: unknown): string {
  if (typeof issue === "string") return `- ${issue}`;
  const [severity, plan, what, hint] = ["severity", "plan", "description", "fix_hint"].map((name) => parseWord(issue, name));
  return `- ${severity}${plan === "" ? "" : ` ${plan}`}: ${what}${hint === "" ? "" : ` (${hint})`}`;
}

function parseWord(value: unknown, name: string): string {
  const word = parseField(value, name);
  return typeof word === "string" ? word : "";
}
