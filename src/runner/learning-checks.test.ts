import { expect, test } from "vitest";
import type { CheckStatus } from "../contracts/evidence.ts";
import type { RunView } from "../core/state.ts";
import type { Verifier } from "../ports/verifier.ts";
import { openLearningChecks } from "./learning-checks.ts";

const tip = { commit: "c".repeat(40), tree: "t1" };
const view = () => ({ tip }) as unknown as RunView;
function verifying(status: CheckStatus | null): {
  readonly check: Verifier["check"];
  readonly ran: string[];
} {
  const ran: string[] = [];
  const check: Verifier["check"] = ({ checks, commit }) => {
    const [first] = checks;
    if (first === undefined) return Promise.resolve([]);
    ran.push(`${commit.slice(0, 1)} ${first.command}`);

    return Promise.resolve(
      status === null
        ? []
        : [{ check: first, status, exit_code: 0, duration_ms: 1, evidence: "e".repeat(64) }],
    );
  };

  return { check, ran };
}

const answers: readonly (readonly [CheckStatus | null, boolean | null])[] = [
  ["passed", true],
  ["failed", false],
  ["timed_out", null],
  ["not_found", null],
  ["flaky", null],
  [null, null],
];
test.each(answers)(
  "a command that ends %s on the newest commit is answered with %s",
  async (status, answer) => {
    const verifier = verifying(status);
    expect(await openLearningChecks({ verifier, view })("a@1/b#1")("test -f a")).toBe(answer);
    expect(verifier.ran).toEqual(["c test -f a"]);
  },
);

test("one and the same command is run once on one and the same tree", async () => {
  const verifier = verifying("passed");
  const holding = openLearningChecks({ verifier, view });
  await holding("a@1/b#1")("test -f a");
  await holding("a@1/b#2")("test -f a");
  expect(verifier.ran).toHaveLength(1);
  tip.tree = "t2";
  await holding("a@1/b#2")("test -f a");
  expect(verifier.ran).toHaveLength(2);
});
