import { describe, expect, test } from "vitest";
import type { Flow, Step } from "../contracts/flow.ts";
import { shippedFlows } from "../../test/simulation/shipped.ts";
import { flows } from "../../test/simulation/support/flows.ts";
import { exploreFlow } from "./explore.ts";

const agent = (id: string, more: Partial<Step> = {}): Step => ({
  id,
  agent: "worker",
  prompt: "do.md",
  ...more,
});
const flowOf = (steps: Step[], more: Partial<Flow> = {}): Flow => ({
  flow: "tried",
  version: 1,
  phases: [{ id: "1", steps }],
  ...more,
});
const kindsOf = (flow: Flow, statesMax?: number) =>
  exploreFlow(flow, statesMax === undefined ? {} : { statesMax }).findings.map(({ kind, step }) => [
    kind,
    step,
  ]);

const others = Object.entries(flows).filter(([name]) => !shippedFlows.has(name));

/** Those that are shipped are walked by explore.whole.test.ts. */
describe("no path of the fixture flows completes past a failed proof, ends nowhere or goes round for ever", () => {
  test.each(others)("%s", (_name, flow) => {
    const { findings, gaveUp, ends } = exploreFlow(flow);
    expect(findings).toEqual([]);
    expect(gaveUp).toBe(false);
    expect(ends.completed).toBeGreaterThan(0);
  });
});

describe("what it finds", () => {
  test("a proof that holds is fine", () => {
    expect(kindsOf(flowOf([agent("write", { proof: ["written"] })]))).toEqual([]);
  });

  test("a failed check that a row walks past", () => {
    expect(
      kindsOf(
        flowOf([
          agent("write", { proof: ["written"] }),
          { id: "look", check: ["project"], otherwise: [{ end: "completed" }] },
        ]),
      ),
    ).toEqual([["failed_proof", "look"]]);
  });

  test("a failed proof whose spent count completes", () => {
    const counts = { round: { at_most: 3, per: "phase", spent: { end: "completed" } } } as const;
    const steps = [
      agent("write", { proof: ["written"], otherwise: [{ go: "write", count: "round" }] }),
    ];
    expect(kindsOf(flowOf(steps, { counts }))).toEqual([
      ["failed_proof", "write"],
      ["unproved", null],
    ]);
  });

  test("a turn that nothing judges", () => {
    expect(kindsOf(flowOf([agent("write")]))).toEqual([["unproved", null]]);
  });

  test("a turn after the last check", () => {
    expect(
      kindsOf(flowOf([agent("write"), { id: "look", check: ["project"] }, agent("polish")])),
    ).toEqual([["unproved", null]]);
  });

  test("a ring without a count", () => {
    const steps: Step[] = [
      agent("write", { proof: ["written"] }),
      { id: "look", check: ["project"], otherwise: [{ go: "write" }] },
    ];
    expect(kindsOf(flowOf(steps))).toEqual([["ring", "look"]]);
    const counted = {
      counts: { round: { at_most: 3, per: "phase", spent: { end: "failed" } } },
    } as const;

    expect(
      kindsOf(
        flowOf(
          [
            steps[0] as Step,
            { ...(steps[1] as Step), otherwise: [{ go: "write", count: "round" }] },
          ],
          counted,
        ),
      ),
    ).toEqual([]);
  });

  test("a ring of nothing but routes", () => {
    const steps: Step[] = [
      { id: "a", run: "a" },
      { id: "b", run: "b", only_if: { "option.never": true }, then: [{ go: "a" }] },
    ];
    expect(kindsOf(flowOf(steps)).map(([kind]) => kind)).toContain("ring");
  });

  test("a way to a step that is not there", () => {
    expect(
      kindsOf(flowOf([{ id: "a", run: "a", then: [{ go: "nowhere" }] }])).map(([kind]) => kind),
    ).toContain("broken");
  });

  test("an end that cannot be reached", () => {
    expect(kindsOf(flowOf([{ id: "a", run: "a", then: [{ end: "failed" }] }]))).toEqual([
      ["dead_end", null],
    ]);
  });

  test("it says when there was more than it may look at", () => {
    const big = flows["roadmap"] as Flow;
    expect(exploreFlow(big, { statesMax: 50 })).toMatchObject({ gaveUp: true, states: 50 });
  });

  test("it says when a step has more outcomes than it may look at", () => {
    const withFacts = (count: number): Flow =>
      flowOf([
        {
          id: "a",
          run: "a",
          then: Array.from({ length: count }, (_, n) => ({
            when: { [`a.fact${n}`]: true },
            end: "failed",
          })),
        },
      ]);
    expect(exploreFlow(withFacts(6)).gaveUp).toBe(false);
    expect(exploreFlow(withFacts(7)).gaveUp).toBe(true);
  });
});
