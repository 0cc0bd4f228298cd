import { expect, test } from "vitest";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { reasons } from "../../contracts/reason.ts";
import { stopAtOnce } from "../../project/command-context.ts";
import { InvariantBroken } from "../../kit/invariant.ts";
import { computeExitCode } from "./exit-code.ts";
import { reportCrash } from "./run-command.ts";
import { fakeIo } from "./io.test-support.ts";
import { main } from "./main.ts";
import type { Command } from "./spec.ts";

const objectIn = (text: string): Record<string, unknown> =>
  JSON.parse(text) as Record<string, unknown>;

test("a usage error is told on stderr with the usage, and nothing stands on stdout", async () => {
  const { io, out, err } = fakeIo();
  expect(await main(["ack", "a", "b"], io)).toBe(2);
  expect(out()).toBe("");
  expect(err()).toBe(
    "✗ autopilot ack takes at most 1, but 2 came: a b\nUsage: autopilot ack ID\nNext: autopilot help ack; if it is your goal: autopilot go -- ack …\n",
  );
});

test("with --json a usage error is one object with every common field", async () => {
  const { io, out, err } = fakeIo();
  expect(await main(["--json", "pause", "--nwo"], io)).toBe(2);
  expect(err()).toBe("Usage: autopilot pause [--now]\n");
  expect(out().trimEnd().includes("\n")).toBe(false);
  expect(objectIn(out())).toEqual({
    result: "FAIL",
    reason_code: "usage",
    run_id: null,
    state: null,
    message: "Unknown flag --nwo. Did you mean --now?",
    warnings: [],
    remediation: ["autopilot help pause"],
  });
});

test("a folder that is not there is a usage error", async () => {
  const { io, err } = fakeIo();
  expect(await main(["-C", "/no/such/folder", "status"], io)).toBe(2);
  expect(err()).toContain("/no/such/folder is not a folder.");
});

test("help: all commands, one command, and none of that name", async () => {
  const all = fakeIo();
  expect(await main(["--help"], all.io)).toBe(0);
  expect(all.out()).toContain("  resume ");
  const item = fakeIo();
  expect(await main(["pause", "-h"], item.io)).toBe(0);
  expect(item.out()).toContain("Usage: autopilot pause [--now]");
  const two = fakeIo();
  expect(await main(["help", "budget", "raise"], two.io)).toBe(0);
  expect(two.out()).toContain("Usage: autopilot budget raise LIMIT…");
  const none = fakeIo();
  expect(await main(["help", "statsu"], none.io)).toBe(2);
  expect(none.err()).toContain("Did you mean status?");
});

test("a flag that chooses among a tracker's issues is not ignored in silence without a tracker", async () => {
  const { io, err } = fakeIo();
  expect(
    await main(["portfolio", "import", "tasks.yaml", "--label", "bug", "--project", "web"], io),
  ).toBe(2);

  expect(err()).toContain("Only --from takes --project, --label.");
});

test("help as JSON is the specs as data", async () => {
  const { io, out } = fakeIo();
  expect(await main(["help", "pause", "--json"], io)).toBe(0);
  expect(objectIn(out())["commands"]).toEqual([
    expect.objectContaining({ name: "pause", flags: [expect.objectContaining({ name: "now" })] }),
  ]);
});

test("a bug names its rule, leaves with 70, and --json still gets its one object", () => {
  const people = fakeIo();
  expect(reportCrash(new InvariantBroken("B1: the ledger only grows"), ["go"], people.io)).toBe(70);
  expect(people.err()).toContain("The rule that did not hold: B1: the ledger only grows");
  expect(people.err()).not.toContain("main.test.ts");
  const program = fakeIo();
  expect(reportCrash(new TypeError("x is not a function"), ["go", "--json"], program.io)).toBe(70);
  expect(objectIn(program.out())).toMatchObject({
    result: "FAIL",
    reason_code: "internal_error",
    rule: "x is not a function",
    kind: "TypeError",
  });
});

test("the stack is shown only to whoever asks for it", () => {
  const { io, out, err } = fakeIo({ env: { AUTOPILOT_DEBUG: "1" } });
  reportCrash(new Error("boom\u001b[2J"), ["--json"], io);
  expect(err()).toContain("main.test.ts");
  expect(err()).not.toContain("\u001b");
  expect(objectIn(out())["rule"]).toBe("boom\u001b[2J");
});

test("the exit code follows from the answer", () => {
  const answer = { run_id: null, state: null, message: "", warnings: [], remediation: [] };
  expect(computeExitCode({ ...answer, result: "PASS", reason_code: "ok" })).toBe(0);
  expect(computeExitCode({ ...answer, result: "WARN", reason_code: "operator_paused" })).toBe(0);
  expect(computeExitCode({ ...answer, result: "FAIL", reason_code: "run_missing" })).toBe(1);
  expect(computeExitCode({ ...answer, result: "FAIL", reason_code: "usage" })).toBe(2);
  expect(computeExitCode({ ...answer, result: "FAIL", reason_code: "internal_error" })).toBe(70);
});

test.each([
  ["human_block_open", 0],
  ["approval_required", 0],
  ["operator_paused", 0],
  ["boundary_reached", 0],
  ["checkpoint_reached", 0],
  ["cycle_cap_reached", 0],
  ["budget_threshold_reached", 1],
  ["run_cap_reached", 1],
  ["breaker_open", 1],
  ["provider_limit_reached", 1],
  ["operator_stopped", 1],
] as const)("a run that rests because of %s exits with %i", (reason_code, code) => {
  const { result } = reasons[reason_code];
  expect(computeExitCode({ ...fine, result, reason_code })).toBe(code);
});

/** A command that does what a test wants. */
const made = (run: Command["run"], more: Partial<Command> = {}): readonly Command[] => [
  {
    name: "go",
    summary: "",
    usage: "",
    details: [],
    arguments: [],
    flags: [],
    takesRun: false,
    run,
    ...more,
  },
];
const fine: CommandResponse = {
  result: "PASS",
  reason_code: "ok",
  run_id: null,
  state: null,
  message: "DecidingTest.",
  warnings: [],
  remediation: [],
};

test("one interrupt asks the run to rest and lets it answer; the second leaves at once", async () => {
  const heeding = fakeIo();
  const code = main(
    [],
    heeding.io,
    made(
      async ({ interrupted }) => {
        heeding.interrupt();
        expect(interrupted.aborted).toBe(true);
        return Promise.resolve(fine);
      },
      { onInterrupt: "resting" },
    ),
  );
  expect(await code).toBe(0);
  expect(heeding.left()).toBeNull();
  const impatient = fakeIo();

  const twice = made(
    () => {
      impatient.interrupt();
      impatient.interrupt();
      return Promise.resolve(fine);
    },
    { onInterrupt: "resting" },
  );
  await main([], impatient.io, twice);
  expect(impatient.left()).toBe(130);
});

test("where the second interrupt is heeded too, the third leaves, and the live line is gone before the shell's prompt", async () => {
  const { io, err, left, interrupt } = fakeIo({ isTerminal: { in: true, out: true, err: true } });
  const heeding = made(
    ({ interruptedAgain, showLive }) => {
      interrupt();
      expect(interruptedAgain?.aborted).toBe(false);
      interrupt();
      expect(interruptedAgain?.aborted).toBe(true);
      expect(left()).toBeNull();
      showLive("1,100 tokens so far");
      interrupt();

      return Promise.resolve(fine);
    },
    { onInterrupt: "resting", onSecondInterrupt: "now" },
  );
  await main([], io, heeding);
  expect(left()).toBe(130);
  expect(err()).toMatch(/so far\r\u001b\[2K$/);
});

test("a warning shown while a command worked isn't said again with its answer; for programs it stays", async () => {
  const told: CommandResponse = {
    ...fine,
    warnings: ["Sandbox clone doesn't block network.", "New."],
  };

  const showing = made(({ show }) => {
    show("! Sandbox clone doesn't block network.");
    return Promise.resolve(told);
  });

  const person = fakeIo();
  await main([], person.io, showing);
  expect(person.err().split("doesn't block")).toHaveLength(2);
  expect(person.err()).toContain("! New.");
  const program = fakeIo();
  await main(
    ["--json"],
    program.io,
    made(() => Promise.resolve(told)),
  );

  expect(program.out()).toContain("doesn't block");
});

test("a request to end waits for nothing, and says so", async () => {
  const { io, err, interrupt } = fakeIo();
  const ending = made(
    ({ interrupted }) => {
      interrupt("end");
      expect(interrupted.reason).toBe(stopAtOnce);
      return Promise.resolve(fine);
    },
    { onInterrupt: "resting", onTerminate: "ending" },
  );
  expect(await main([], io, ending)).toBe(0);
  expect(err()).toContain("ending");
});

test("a terminal that goes away asks once for rest, however often it is told; where there is none, nothing is asked", async () => {
  const hungUp = async (hasTerminal: boolean): Promise<boolean> => {
    const { io, interrupt, left } = fakeIo({
      isTerminal: { in: false, out: false, err: hasTerminal },
    });

    let isAsked = false;
    const working = made(
      ({ interrupted }) => {
        interrupt("hangup");
        interrupt("hangup");
        isAsked = interrupted.aborted;

        return Promise.resolve(fine);
      },
      { onInterrupt: "resting" },
    );
    await main([], io, working);
    expect(left()).toBeNull();

    return isAsked;
  };
  expect([await hungUp(true), await hungUp(false)]).toEqual([true, false]);
});

test("a command that has nothing to bring to rest leaves at the first interrupt", async () => {
  const { io, interrupt, left } = fakeIo();
  const once = made(() => {
    interrupt();
    return Promise.resolve(fine);
  });
  await main([], io, once);
  expect(left()).toBe(130);
});

test("with --json nobody is asked, progress goes to stderr, and stdout is the object alone", async () => {
  const { io, out, err } = fakeIo({ isTerminal: { in: true, out: false, err: true } });
  const chatty = made(async (context) => {
    context.show("working");
    expect(context.isTerminal).toBe(false);
    expect(await context.ask("Start?", ["y"])).toBeNull();

    return { ...fine, page: ["a page"], data: { extra: 1 } };
  });
  expect(await main(["--json"], io, chatty)).toBe(0);
  expect(objectIn(out())).toMatchObject({ result: "PASS", extra: 1 });
  expect(err()).toContain("working");
});

test("whatever a command throws is a bug of ours, and told as one", async () => {
  const { io, out } = fakeIo();
  expect(
    await main(
      ["--json"],
      io,
      made(() => Promise.reject(new InvariantBroken("H1: one owner"))),
    ),
  ).toBe(70);

  expect(objectIn(out())).toMatchObject({ reason_code: "internal_error", rule: "H1: one owner" });
});

test("a page for programs goes out as it is, and only the page", async () => {
  const { io, out, err } = fakeIo();
  const raw = made(
    (_place, _given, print) => {
      print('{"seq":0}');
      return Promise.resolve({ ...fine, page: ['{"seq":1,"text":"\u202e"}'] });
    },
    { isRaw: () => true },
  );
  expect(await main([], io, raw)).toBe(0);
  expect(out()).toBe('{"seq":0}\n{"seq":1,"text":"\u202e"}\n');
  expect(err()).toBe("");
});

test("a flag of a task on a project, or of a project on a task, is refused", async () => {
  for (const [words, said] of [
    [
      ["add", "project", "Shop", "--accept", "x :: true", "--touches", "a"],
      "--accept, --touches are for a task, and this is a project.",
    ],
    [
      ["add", "task", "Shop", "sell", "--slots", "2"],
      "--slots is for a project, and this is a task.",
    ],
    [["edit", "proj-shop", "--after", "task-a-b"], "--after is for a task, and this is a project."],
    [
      ["add", "task", "Shop", "sell", "--objective", "buy"],
      "The objective is given twice: as words and with --objective.",
    ],
  ] as const) {
    const { io, err } = fakeIo();
    expect(await main(["portfolio", ...words], io)).not.toBe(0);
    expect(err()).toContain(said);
  }
});

test("a second word that other tools know is answered with ours", async () => {
  const { io, err } = fakeIo();
  expect(await main(["portfolio", "list"], io)).toBe(2);
  expect(err()).toContain("Did you mean portfolio status?");
});
