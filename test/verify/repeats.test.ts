// One and the same tree has one verdict: what is run again, what is flaky, what is in quarantine,
// and what need not be run at all.

import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Check, type CheckResult, Evidence } from "../../src/contracts/evidence.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { openVerifier, type VerifierParts } from "../../src/verify/verifier.ts";
import { readCheckoutStamp } from "../../src/workspace/layers/check-folder.ts";

const clock: Clock = {
  now: () => "2026-03-04T00:00:00.000Z",
  monotonicMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

let root = "";
let tree: Record<string, string> = {};
let dependencies: string | null = null;
let blobs = new Map<string, Buffer>();
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "repeats-"));
  tree = { a: "x" };
  dependencies = null;
  blobs = new Map();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const workspace: VerifierParts["workspace"] = {
  checkout: async (_, purpose) => {
    const folder = join(root, purpose);
    rmSync(folder, { recursive: true, force: true });

    for (const [path, text] of Object.entries(tree)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }

    return folder;
  },
  requireIntact: () => Promise.resolve(),
  treeOf: async (folder) => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const names = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
    return createHash("sha1")
      .update(JSON.stringify(names.map((name) => [name, readFileSync(name, "utf8")])))
      .digest("hex");
  },
  dropCheckout: async () => undefined,
  foldersOf: (folder) => [folder],
  touchedIn: async () => [],
  stampOf: readCheckoutStamp,
  rewrittenIn: async (folder) =>
    Object.entries(tree).flatMap(([path, text]) =>
      readFileSync(join(folder, path), "utf8") === text ? [] : path,
    ),
  dependenciesIn: async () => dependencies,
  differences: async () => [],
  pathsAt: async () => Object.keys(tree),
  textAt: async () => null,
  hasCommit: async () => false,
  inspect: async () => ({ layer: "absent", commit: null }),
};

function open(more: Partial<VerifierParts> = {}) {
  return openVerifier({
    workspace,
    putBlob: async (bytes) => {
      const hash = createHash("sha256").update(bytes).digest("hex");
      blobs.set(hash, Buffer.from(bytes));
      return hash;
    },
    isolation: "none",
    product: "autopilot 1",
    timeoutMs: 60_000,
    clock,
    ...more,
  });
}
const cached = () => ({
  readBlob: async (hash: string) => {
    const found = blobs.get(hash);
    if (found === undefined) throw new Error("gone");
    return found;
  },
});
const checkOf = (command: string, kind: Check["kind"] = "criterion"): Check => ({
  id: command,
  kind,
  title: command,
  command,
  source: "test",
});
const order = (checks: Check[], more: object = {}) => ({
  attempt: "1@1/prove#1",
  commit: "c".repeat(40),
  checks,
  cancel: new AbortController().signal,
  onLiveEvent: () => undefined,
  ...more,
});
const evidenceOf = (result: CheckResult | undefined) =>
  v.parse(Evidence, JSON.parse(blobs.get(result?.evidence ?? "")?.toString() ?? ""));
/** Counts its runs in a file outside every tree, and comes to these exit codes in turn. */
const turns = (...codes: number[]): string =>
  `n=$(cat ${root}/n 2>/dev/null || echo 0); echo $((n + 1)) > ${root}/n; set -- ${codes.join(" ")}; shift $((n % ${codes.length})); exit $1`;
const ran = (): number =>
  existsSync(join(root, "n")) ? Number(readFileSync(join(root, "n"), "utf8")) : 0;

test("a check that passes as it did before is run once", async () => {
  const check = checkOf(turns(0));
  const [first] = await open().check(order([check]));
  expect([first?.status, ran()]).toEqual(["passed", 1]);
  await open().check(order([check], { known: { [check.id]: "passed" } }));
  expect(ran()).toBe(2);
  expect(evidenceOf(first).repeats).toBeUndefined();
});

test("a check that fails is run twice, one that newly passes three times, and evidence says so", async () => {
  const fails = checkOf(turns(1));
  const [failed] = await open().check(order([fails]));
  expect([failed?.status, ran(), evidenceOf(failed).repeats]).toEqual([
    "failed",
    2,
    ["failed", "failed"],
  ]);

  rmSync(join(root, "n"));
  const passes = checkOf(turns(0));
  const [passed] = await open().check(order([passes], { known: { [passes.id]: "failed" } }));
  expect([passed?.status, ran(), evidenceOf(passed).repeats]).toEqual([
    "passed",
    3,
    ["passed", "passed", "passed"],
  ]);
});

test.each([
  ["fails, then passes", [1, 0], undefined, ["failed", "passed"]],
  ["passes for the first time, then fails", [0, 1], "failed", ["passed", "failed"]],
  ["passes twice, then fails", [0, 0, 1], "flaky", ["passed", "passed", "failed"]],
] as const)(
  "one that %s on the same tree is flaky and never passed",
  async (_what, codes, known, repeats) => {
    const check = checkOf(turns(...codes));
    const [result] = await open().check(
      order([check], known === undefined ? {} : { known: { [check.id]: known } }),
    );
    expect(result).toMatchObject({ status: "flaky", exit_code: 1 });
    expect(evidenceOf(result)).toMatchObject({
      status: "flaky",
      repeats,
      output_excerpt: expect.stringContaining("one and the same tree") as string,
    });
  },
);

test("a check that passes only the first time is seen through: each run finds the commit's tree", async () => {
  const once = checkOf("test ! -e ran && touch ran");
  const [result] = await open().check(order([once], { known: { [once.id]: "failed" } }));
  expect(evidenceOf(result).repeats).toEqual(["passed", "passed", "passed"]);
  const outside = checkOf(`test ! -e ${root}/ran && touch ${root}/ran`);
  expect(
    (await open().check(order([outside], { known: { [outside.id]: "failed" } })))[0]?.status,
  ).toBe("flaky");
});

test("what hangs, is missing or cannot be started is not run again, and repeating can be turned off", async () => {
  const slow = checkOf(`${turns(0)} & sleep 100`);
  expect((await open({ timeoutMs: 300 }).check(order([slow])))[0]?.status).toBe("timed_out");
  expect(ran()).toBe(1);
  rmSync(join(root, "n"));
  expect((await open().check(order([checkOf(turns(127))])))[0]?.status).toBe("not_found");
  expect(ran()).toBe(1);
  rmSync(join(root, "n"));
  expect((await open({ repeatMax: 1 }).check(order([checkOf(turns(1, 0))])))[0]?.status).toBe(
    "failed",
  );

  expect(ran()).toBe(1);
});

test("a check in quarantine is marked so until its day is over, and then told to count again", async () => {
  const check = checkOf(turns(1, 0));
  const quarantine = (until: string) => ({ quarantine: [{ check: check.command, until }] });
  const [held] = await open(quarantine("2026-03-04")).check(order([check]));
  expect(held).toMatchObject({ status: "flaky", quarantined: "2026-03-04" });
  expect(evidenceOf(held).output_excerpt).toContain("in quarantine until 2026-03-04");
  const [over] = await open(quarantine("2026-03-03")).check(order([check]));
  expect(over?.quarantined).toBeUndefined();
  expect(evidenceOf(over).output_excerpt).toContain("its quarantine ended with 2026-03-03");
});

test("the same tree, command and environment are not run again: the evidence that is there is named", async () => {
  const check = checkOf(turns(0));
  const verifier = open(cached());
  const [first] = await verifier.check(order([check]));
  const [again] = await verifier.check(order([check], { known: { [check.id]: "passed" } }));
  expect(again).toEqual({ ...first, cached: true });
  expect(ran()).toBe(1);
  const later = open(cached()); // another process: what the journal names is believed, and nothing else
  expect(
    (await later.check(order([check], { recorded: first === undefined ? [] : [first] })))[0],
  ).toMatchObject({ cached: true });

  expect(ran()).toBe(1);
  expect((await open(cached()).check(order([check])))[0]?.cached).toBeUndefined();
  expect(ran()).toBe(2);
});

test("another tree, other packages, another command, environment or version are run", async () => {
  const check = checkOf(turns(0));
  const [first] = await open(cached()).check(order([check]));
  const recorded = { recorded: first === undefined ? [] : [first] };
  const ranAnew = async (more: Partial<VerifierParts> = {}): Promise<boolean> =>
    (await open({ ...cached(), ...more }).check(order([check], recorded)))[0]?.cached === undefined;
  expect(await ranAnew()).toBe(false); // the control
  expect(await ranAnew({ product: "autopilot 2" })).toBe(true);
  expect(await ranAnew({ isolation: "bwrap" })).toBe(true);
  expect(await ranAnew({ env: { EXTRA: "1" } })).toBe(true);
  dependencies = "d".repeat(64);
  expect(await ranAnew()).toBe(true);
  dependencies = null;
  tree = { a: "y" };
  expect(await ranAnew()).toBe(true);
});

test("damaged or missing evidence is no verdict", async () => {
  const check = checkOf(turns(0));
  const [first] = await open(cached()).check(order([check]));
  const recorded = { recorded: first === undefined ? [] : [first] };
  blobs.set(first?.evidence ?? "", Buffer.from('{"status":"passed"'));
  expect((await open(cached()).check(order([check], recorded)))[0]?.cached).toBeUndefined();
  blobs.delete(first?.evidence ?? "");
  expect((await open(cached()).check(order([check], recorded)))[0]?.cached).toBeUndefined();
  expect(ran()).toBe(3);
});

test("a verdict that rests on fewer runs than are wanted now, or follows a flaky one, is not taken over", async () => {
  const check = checkOf(turns(0));
  const verifier = open(cached());
  await verifier.check(order([check]));
  expect(
    (await verifier.check(order([check], { known: { [check.id]: "failed" } })))[0]?.cached,
  ).toBeUndefined();

  expect(ran()).toBe(4);
  expect(
    (await verifier.check(order([check], { known: { [check.id]: "failed" } })))[0]?.cached,
  ).toBe(true);

  expect(
    (await verifier.check(order([check], { known: { [check.id]: "flaky" } })))[0]?.cached,
  ).toBeUndefined();

  const flaky = checkOf(turns(1, 0));
  rmSync(join(root, "n"));
  await verifier.check(order([flaky]));
  expect((await verifier.check(order([flaky])))[0]).toMatchObject({ status: "flaky" });
  expect(ran()).toBe(4);
});

test("without a way to read evidence back nothing is taken over", async () => {
  const check = checkOf(turns(0));
  const verifier = open();
  const [first] = await verifier.check(order([check]));
  expect(
    (await verifier.check(order([check], { recorded: first === undefined ? [] : [first] })))[0]
      ?.cached,
  ).toBeUndefined();

  expect(ran()).toBe(2);
});

test("what restores is run where a check is, and not where all is known", async () => {
  const restores = [{ ...checkOf(`echo >> ${root}/restored`, "restore") }];
  const restored = (): number => readFileSync(join(root, "restored"), "utf8").length;
  const verifier = open({ ...cached(), restores });
  await verifier.check(order([checkOf("true")]));
  expect((await verifier.check(order([checkOf("true")]))).map((result) => result.cached)).toEqual([
    true,
    true,
  ]);

  expect(restored()).toBe(1);
  expect(
    (await verifier.check(order([checkOf("true"), checkOf("test -f a")]))).map(
      (result) => result.cached,
    ),
  ).toEqual([undefined, true, undefined]);

  expect(restored()).toBe(2);
});

test("a check that passes and ran less than it did on the base has not passed, and says so; on the base itself nothing is held against it", async () => {
  const silent = checkOf("true");
  const reported = checkOf("echo '2 passed in 0.01s'");
  const [base, spoken] = await open().check(order([silent, reported]));
  expect([base?.status, base?.tests, spoken?.status, spoken?.tests]).toEqual([
    "passed",
    undefined,
    "passed",
    { ran: 2, failed: 0, skipped: 0 },
  ]);

  const talliesBefore = {
    [silent.id]: { ran: 4, failed: 1, skipped: 0 },
    [reported.id]: { ran: 2, failed: 0, skipped: 0 },
  };

  const [lost, same] = await open().check(order([silent, reported], { talliesBefore }));
  expect([lost?.status, lost?.exit_code, same?.status]).toEqual(["failed", 0, "passed"]);
  expect(lost?.why).toContain("4 before the work began");
  expect(evidenceOf(lost)).toMatchObject({
    status: "failed",
    tests_before: { ran: 4 },
    output_excerpt: expect.stringContaining("4 before") as string,
  });

  tree["a.test.js"] = 'import { test } from "node:test";\ntest("a", () => {});\n';
  const cut = checkOf("echo '✔ a.test.js (1ms)'; echo 'ℹ pass 1'");
  const [onBase] = await open().check(order([cut]));
  const [after] = await open().check(order([cut], { talliesBefore: {} }));
  expect([onBase?.status, after?.status, after?.why]).toEqual([
    "passed",
    "failed",
    expect.stringContaining("ended before they were run"),
  ]);
});

test("numbers are read from all that is printed, so that a flood hides nothing", async () => {
  const flood = checkOf("yes | head -c 400000; cat a; test -f a");
  tree = { a: "2 passed in 0.01s\n" };
  const [base] = await open().check(order([flood]));
  expect(base).toMatchObject({ status: "passed", tests: { ran: 2 } });
  tree = { a: "" };
  const [now] = await open().check(order([flood], { talliesBefore: { [flood.id]: base?.tests } }));
  expect([now?.status, now?.why]).toEqual([
    "failed",
    expect.stringContaining("2 before the work began"),
  ]);
});

test("of a check that was red, a test that passed and fails now is named; another that fails is not, nor one that is unsteady", async () => {
  const check = checkOf("sh a; exit 1", "project");
  const tap = (...failing: string[]): string =>
    ["one", "two", "three"]
      .map((name, at) => `echo "${failing.includes(name) ? "not " : ""}ok ${at} - ${name}"\n`)
      .join("");

  tree = { a: tap("one", "two") };
  const [base] = await open().check(order([check]));
  expect(evidenceOf(base)).toMatchObject({ names: { passed: ["three"], failed: ["one", "two"] } });
  const before = { evidenceBefore: { [check.id]: base?.evidence } };
  const after = async () => (await open(cached()).check(order([check], before)))[0];
  tree = { a: tap("two") };
  expect(await after()).not.toHaveProperty("broke");
  tree = { a: tap("two", "three") };
  expect(await after()).toMatchObject({
    status: "failed",
    broke: 1,
    why: "passed before the work began and fails now: three",
  });

  tree = {
    a: `n=$(cat ${root}/n 2>/dev/null || echo 0); echo $((n + 1)) > ${root}/n; if [ $n = 2 ]; then ${tap("two").replaceAll("\n", ";")} else ${tap("two", "three").replaceAll("\n", ";")} fi\n`,
  };

  expect(await after()).not.toHaveProperty("broke"); // the third run is asked before anything is called broken
  expect(ran()).toBe(3);
  rmSync(join(root, "n"));
  tree = {
    a: `test -f ${root}/n && { rm ${root}/n; ${tap("two").replaceAll("\n", ";")} } || { touch ${root}/n; ${tap("two", "three").replaceAll("\n", ";")} }\n`,
  };

  expect(await after()).not.toHaveProperty("broke");
});

test("a check that rewrites what judges as it runs has not passed, unless it did so on the base", async () => {
  tree = {
    a: "echo more >> tests/data.txt\n",
    "tests/test_a.py": "assert 0\n",
    "tests/data.txt": "1\n",
  };

  const check = checkOf("sh a");
  const honest = await open(cached()).check(order([check]));
  const before = { evidenceBefore: { [check.id]: honest[0]?.evidence } };
  expect((await open(cached()).check(order([check], before)))[0]).toMatchObject({
    status: "passed",
  }); // what it keeps of its own isn't a judge

  tree["a"] = "echo pass > tests/test_a.py\n";
  const [caught] = await open(cached()).check(order([check], before));
  expect(caught).toMatchObject({
    status: "failed",
    exit_code: 0,
    why: "it rewrote what judges as it ran: tests/test_a.py",
  });

  const always = await open(cached()).check(order([check]));
  expect(always[0]).toMatchObject({ status: "passed" });
  expect(evidenceOf(always[0]).rewrote).toEqual(["tests/test_a.py"]);
  tree["a"] += "\n";
  expect(
    (
      await open(cached()).check(
        order([check], { evidenceBefore: { [check.id]: always[0]?.evidence } }),
      )
    )[0],
  ).toMatchObject({
    status: "passed",
  });
});

test("of a check that fails now more, now less, the base is told by its worst run and the work by its best", async () => {
  const check = checkOf(
    `n=$(cat ${root}/n 2>/dev/null || echo 0); echo $((n + 1)) > ${root}/n; echo "$((n % 2 + 1)) failed, 1 passed in 0.1s"; exit 1`,
    "project",
  );
  const [base] = await open().check(order([check]));
  const [now] = await open(cached()).check(
    order([check], { evidenceBefore: { [check.id]: base?.evidence } }),
  );
  expect([base?.tests?.failed, now?.tests?.failed]).toEqual([2, 1]);
});
