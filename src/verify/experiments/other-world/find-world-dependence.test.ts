import { describe, expect, it } from "vitest";
import { createWorldContext } from "./find-world-dependence.test-support.ts";
import { worldFacts, type WorldFact } from "./wrap-in-other-world.ts";
import { findWorldDependence } from "./find-world-dependence.ts";

const failsIn =
  (...bad: readonly WorldFact[]) =>
  (different: readonly WorldFact[]): readonly string[] =>
    different.some((fact) => bad.includes(fact)) ? ["single units"] : [];

describe("a check in another world", () => {
  it("that passes there is asked once, and not at all if a repetition has passed there", async () => {
    const { context, runs } = createWorldContext({});
    expect(await findWorldDependence(context)).toBe(null);
    expect(runs).toEqual([`work ${worldFacts.join()}`]);
    const repeated = createWorldContext({ isAnswered: true });
    expect(await findWorldDependence(repeated.context)).toBe(null);
    expect(repeated.runs).toEqual([]);
  });

  it("that fails there leaves a gap with what matters and which tests fail", async () => {
    const { context } = createWorldContext({ failsOnWork: failsIn("language") });
    expect(await findWorldDependence(context)).toBe(
      "1 test passes here and fails in another language: single units",
    );
  });

  it("without tests leaves a gap as well", async () => {
    const { context } = createWorldContext({ failsOnWork: failsIn("output"), ran: 0 });
    expect(await findWorldDependence(context)).toBe(
      "it passes here and fails with its output in a file",
    );
  });

  it("shows nothing if it fails there before the work as well", async () => {
    const { context } = createWorldContext({
      failsOnWork: failsIn("time zone"),
      failsOnBase: failsIn("time zone"),
    });
    expect(await findWorldDependence(context)).toBe(null);
  });

  it("counts if the test failed before the work in the usual world", async () => {
    const { context } = createWorldContext({
      failsOnWork: failsIn("time zone"),
      failsOnBase: () => ["single units"],
      failedBefore: ["single units"],
    });
    expect(await findWorldDependence(context)).toBe(
      "1 test passes here and fails in another time zone: single units",
    );
  });

  it("shows nothing if it fails here too, or only once", async () => {
    const flaky = createWorldContext({ failsOnWork: failsIn("user"), passesAgain: false });
    expect(await findWorldDependence(flaky.context)).toBe(null);
    let asked = 0;
    const once = createWorldContext({ failsOnWork: () => (asked++ === 0 ? ["single units"] : []) });
    expect(await findWorldDependence(once.context)).toBe(null);
  });

  it("shows nothing if the goal, or the test before the work, speaks of what is different", async () => {
    const goal = createWorldContext({
      failsOnWork: failsIn("time zone"),
      goal: "print the date of a commit",
    });
    expect(await findWorldDependence(goal.context)).toBe(null);
    const text =
      'test("single units", () => { equal(new Intl.NumberFormat().format(1.5), "1.5"); });';
    const subject = createWorldContext({ failsOnWork: failsIn("language"), testText: text });
    expect(await findWorldDependence(subject.context)).toBe(null);
  });

  it.each(["tests beside it", "sources beside it"] as const)(
    "shows nothing without %s if the test asks git",
    async (fact) => {
      const testText = `test("single units", () => { equal(unit(), git("describe")); });`;
      const asked = createWorldContext({ failsOnWork: failsIn(fact), testText });
      expect(await findWorldDependence(asked.context)).toBe(null);
      const other = createWorldContext({ failsOnWork: failsIn(fact) });
      expect(await findWorldDependence(other.context)).toContain("1 test passes here");
    },
  );

  it("shows nothing of tests beside an older one whose files are elsewhere there, too", async () => {
    const testText =
      'test("reads a log", () => { equal(sum(log), 5); });\ntest("single units", () => { equal(parse(log), 5); });';
    const ask = (fact: WorldFact): Promise<string | null> =>
      findWorldDependence(
        createWorldContext({
          testText,
          failsOnWork: failsIn(fact),
          failsOnBase: (different) => (different.includes(fact) ? ["reads a log"] : []),
        }).context,
      );
    expect(await ask("tests beside it")).toBe(null);
    expect(await ask("time zone")).toContain("1 test passes here");
  });

  it("counts if the goal asks for the same everywhere", async () => {
    const testText = `test("single units", () => { equal(utcDay("2024-03-09T20:00:00Z"), "2024-03-09"); });`;
    const ask = async (goal: string): Promise<string | null> =>
      findWorldDependence(
        createWorldContext({ failsOnWork: failsIn("time zone"), testText, goal }).context,
      );
    expect(
      await ask("utcDay() gives the day of an instant, whatever the machine's time zone"),
    ).toContain("in another time zone");

    expect(await ask("utcDay() gives the day of an instant in the machine's time zone")).toBe(null);
  });

  it("counts if the test gives its moments in UTC and speaks of no zone", async () => {
    const ask = async (testText: string): Promise<string | null> =>
      findWorldDependence(
        createWorldContext({ failsOnWork: failsIn("time zone"), testText }).context,
      );

    const inUtc = `test("single units", () => { equal(week(new Date("2024-01-01T12:00:00Z")), 1); });`;
    expect(await ask(inUtc)).toBe(
      "1 test passes here and fails in another time zone: single units",
    );

    expect(await ask(inUtc.replace("T12:00:00Z", ""))).toBe(null);
    expect(await ask(`// in local time\n${inUtc}`)).toBe(null);
  });

  it("that does not come to its end there leaves a gap", async () => {
    const { context } = createWorldContext({ failsOnWork: () => null });
    expect(await findWorldDependence(context)).toContain("it could not be found out");
  });
});
