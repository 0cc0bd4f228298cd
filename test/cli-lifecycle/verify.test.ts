// A run is checked again from its journal and its evidence, here and on another machine: what
// holds, what does not, what cannot be run again.

import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  autopilot,
  begin,
  eventsOf,
  goScripted,
  journal,
  runFolderOf,
  until,
} from "../support/autopilot.ts";
import { once } from "../support/rewind.ts";
import { git, scratch, scratchFolder } from "../support/scratch-repository.ts";
import { criterion, done, writes } from "./stories.ts";

type Piece = {
  command: string;
  recorded: string;
  now: string;
  holds: boolean | null;
  why?: string;
};
const piecesOf = (json: { readonly [more: string]: unknown }): readonly Piece[] =>
  json["evidence"] as Piece[];

const hasBubblewrap =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status === 0;

const finished = async (
  args: readonly string[] = criterion,
  verdict = "verified",
): Promise<string> => {
  const folder = scratch();
  const { json } = await goScripted(folder, [{ do: [writes("out.txt"), done] }], args);
  expect(json).toMatchObject({ state: "completed", verdict });

  return folder;
};

/**
 * The repository cloned to another path, with the runs copied beside it: what somebody else would
 * get.
 */
const elsewhere = async (folder: string): Promise<string> => {
  const clone = join(dirname(folder), "another place", "clone");
  git(folder, "clone", "-q", "--no-hardlinks", folder, clone);
  cpSync(join(folder, ".autopilot"), join(clone, ".autopilot"), { recursive: true });
  rmSync(folder, { recursive: true });
  expect((await autopilot(clone, ["adopt", "--yes", "--json"])).json.reason_code).toBe(
    "run_adopted",
  );

  return clone;
};

/**
 * One finished run: verified where it was made, with one of its blobs written over, and, the blob
 * as it was, in a clone elsewhere.
 */
const verified = once(async () => {
  const folder = await finished();
  const refs = [git(folder, "for-each-ref")];
  const here = await autopilot(folder, ["verify", "--json"]);
  refs.push(git(folder, "for-each-ref"));
  const shown = (await autopilot(folder, ["verify"])).out;
  const entries = journal(folder);
  const prompt = Object.values(entries[0]?.["prompts"] as Record<string, string>)[0] ?? "";
  const blob = join(runFolderOf(folder), "blobs", prompt.slice(0, 2), prompt);
  const text = readFileSync(blob);
  writeFileSync(blob, "something else", { mode: 0o600 });
  const damaged = await autopilot(folder, ["verify", "--json"]);
  writeFileSync(blob, text, { mode: 0o600 });
  const clone = await elsewhere(folder);
  const cloneRefs = [git(clone, "for-each-ref")];
  const there = await autopilot(clone, ["verify", "--json"]);
  cloneRefs.push(git(clone, "for-each-ref"));

  return { refs, here, shown, entries, prompt, damaged, cloneRefs, there };
});

describe.concurrent("verify", () => {
  test("chain, blobs, commits and evidence hold, and so does the verdict", async () => {
    const { refs, here, shown, entries } = await verified();
    const { code, json, out } = here;
    expect({ code, out: out.split("\n").length }).toEqual({ code: 0, out: 2 });
    expect(json).toMatchObject({
      result: "PASS",
      chain: { ok: true, events: entries.length, damaged_line: null },
      verdict: { recorded: "verified", now: "verified" },
      blobs: { damaged: [] },
    });

    expect(
      (json["commits"] as { what: string; holds: boolean }[]).map(({ holds }) => holds),
    ).toEqual([true, true]);

    expect(piecesOf(json).map(({ recorded, now, holds }) => [recorded, now, holds])).toEqual([
      ["failed", "failed", true],
      ["passed", "passed", true],
    ]);

    expect(refs[1]).toBe(refs[0]);
    expect(shown).toMatch(/✓ holds: test -f out\.txt.*\n.*Verdict: verified, as recorded\./);
  });

  test("interrupted or killed, it leaves no process of the check it was running; interrupted, it says that nothing is known of the rest", async () => {
    const beside = scratchFolder();
    const [slow, pid] = [join(beside, "slow"), join(beside, "pid")];
    const check = `if [ -e ${slow} ]; then echo $$ > ${pid}; exec sleep 300; fi; test -f out.txt`;
    const folder = await finished(
      ["--done-criteria", `out.txt is there :: ${check}`],
      "verified_with_gaps",
    );

    writeFileSync(slow, "");
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      rmSync(pid, { force: true });
      const { child, ended } = begin(folder, ["verify", "--json"]);
      const running = await until(
        "the check to run",
        () => Number(readFileSync(pid, "utf8")) || null,
      );

      child.kill(signal);
      const { code, out } = await ended;
      await until("the check to end", () => !existsSync(`/proc/${running}`));

      if (signal === "SIGINT") {
        expect([code, JSON.parse(out)]).toMatchObject([
          1,
          { reason_code: "command_interrupted", state: "completed" },
        ]);
      }
    }
  });

  test("a clone at another path with the run's folder copied gives the same, and nothing is made in it", async () => {
    const { cloneRefs, there } = await verified();
    const { code, json } = there;
    expect({ code, json }).toMatchObject({
      code: 0,
      json: { result: "PASS", verdict: { recorded: "verified", now: "verified" } },
    });

    expect(piecesOf(json).map(({ holds }) => holds)).toEqual([true, true]);
    expect(cloneRefs[1]).toBe(cloneRefs[0]);
  });

  test("where the verdict would be another one now, exit 1 and both verdicts", async () => {
    // A check that looks outside: what was there when the run was made is not there any more.
    const folder = scratch();
    const witness = join(dirname(folder), "witness");
    writeFileSync(witness, "");

    const { json: went } = await goScripted(
      folder,
      [{ do: [writes("out.txt"), done] }],
      ["--done-criteria", `out.txt is there :: test -f out.txt && test -f '${witness}'`],
    );
    expect(went).toMatchObject({ verdict: "verified" });
    rmSync(witness);
    const { code, json } = await autopilot(folder, ["verify", "--json"]);
    expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "evidence_differs" });
    expect(json).toMatchObject({ verdict: { recorded: "verified", now: "refuted" } });
    expect(json.message).toMatch(/would be refuted now, not verified/);
    expect(piecesOf(json).at(-1)).toMatchObject({
      recorded: "passed",
      now: "failed",
      holds: false,
    });
  });

  test("evidence that gives another result without changing the verdict is told, exit 0", async () => {
    const folder = scratch();
    const witness = join(dirname(folder), "witness");

    const { json: went } = await goScripted(
      folder,
      [{ do: [writes("out.txt"), done] }],
      [
        "--done-criteria",
        `out.txt is there :: test -f out.txt || test -f '${witness}'`,
        "--done-criteria",
        "it is readable :: test -r out.txt",
      ],
    );
    expect(went).toMatchObject({ verdict: "verified" });
    writeFileSync(witness, ""); // now it passes on the base, too
    const { code, json } = await autopilot(folder, ["verify", "--json"]);
    expect({ code, result: json.result }).toEqual({ code: 0, result: "WARN" });
    expect(json).toMatchObject({ verdict: { recorded: "verified", now: "verified" } });
    expect(piecesOf(json)[0]).toMatchObject({ recorded: "failed", now: "passed", holds: false });
  });

  test("what cannot be run again says why: a program that is not here, a commit that is gone", async () => {
    const folder = scratch();
    const bin = join(dirname(folder), "bin");
    git(folder, "config", "user.name", "Scratch");
    const tool = join(bin, "own-tool");
    cpSync("/bin/true", tool, { recursive: true });
    const around = { env: { PATH: `${bin}:${process.env["PATH"]}` } };

    const { json: went } = await goScripted(
      folder,
      [{ do: [writes("out.txt"), done] }],
      ["--done-criteria", "it runs :: own-tool", ...criterion],
      around,
    );
    expect(went).toMatchObject({ state: "completed" });
    const lacking = await autopilot(folder, ["verify", "--json"]);
    expect(lacking.code).toBe(0);
    const pieces = piecesOf(lacking.json).filter(({ command }) => command === "own-tool");
    expect(pieces.length).toBeGreaterThan(0);

    for (const piece of pieces) {
      expect(piece).toMatchObject({
        holds: null,
        why: expect.stringMatching(/not found here/) as string,
      });
    }

    const [applied] = eventsOf(folder, "changes_applied");
    const commit = String(applied?.["commit"]);
    const bare = join(dirname(folder), "short");
    git(folder, "update-ref", "refs/heads/main", String(applied?.["parent"]));
    git(folder, "for-each-ref", "--format=delete %(refname)", "refs/heads/autopilot")
      .split("\n")
      .forEach((line) => git(folder, "update-ref", "-d", line.slice(7)));

    git(folder, "clone", "-q", "--no-local", folder, bare);
    cpSync(join(folder, ".autopilot"), join(bare, ".autopilot"), { recursive: true });
    expect((await autopilot(bare, ["adopt", "--yes", "--json"])).json.reason_code).toBe(
      "run_adopted",
    );

    const short = await autopilot(bare, ["verify", "--json"], around);
    expect({ code: short.code, result: short.json.result }).toEqual({ code: 0, result: "WARN" });
    expect(short.json["commits"]).toMatchObject([
      { what: "base", holds: true },
      { commit, holds: null, why: "it is not in this repository" },
    ]);

    expect(piecesOf(short.json).filter(({ holds }) => holds === null)).toMatchObject([
      { why: expect.stringContaining(commit.slice(0, 12)) as string },
      {},
    ]);

    expect((await autopilot(bare, ["verify"], around)).out).toMatch(
      /\? cannot be re-run: .* is not in this repository/,
    );
  });

  test.skipIf(!hasBubblewrap)(
    "where the isolation of the run cannot be had, that is said and nothing is refused (needs bubblewrap, to take it away)",
    async () => {
      const folder = await finished([...criterion, "--isolation", "bwrap"]);
      const control = await autopilot(folder, ["verify", "--json"]);
      expect(control.json).toMatchObject({ result: "PASS", isolation: "bwrap" });
      const bin = join(dirname(folder), "bin");
      mkdirSync(bin);
      symlinkSync(
        execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim(),
        join(bin, "git"),
      );

      const { code, json } = await autopilot(folder, ["verify", "--json"], { env: { PATH: bin } });
      expect({ code, result: json.result }).toEqual({ code: 0, result: "WARN" });
      expect(json).toMatchObject({
        chain: { ok: true },
        isolation: null,
        verdict: { recorded: "verified", now: "verified" },
      });

      for (const piece of piecesOf(json)) {
        expect(piece).toMatchObject({
          holds: null,
          why: expect.stringMatching(/^isolation bwrap is not available here/) as string,
        });
      }
    },
  );

  test("oracles that were taken from the base are taken from it again", async () => {
    const folder = scratch({
      files: {
        "package.json": '{ "type": "module" }\n',
        "src/sum.js": "export const sum = (list) => list.length;\n",
        "test/sum.test.js":
          'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { sum } from "../src/sum.js";\n\ntest("sums", () => assert.equal(sum([40, 2]), 42));\n',
      },
    });

    const args = ["--done-criteria", "it sums :: node --test test/", "--max-cycles", "1"];
    await goScripted(
      folder,
      [
        {
          do: [writes("test/sum.test.js", 'import "node:test";\n'), writes("src/more.js"), done],
          repeat: 0,
        },
      ],
      args,
    );

    expect(eventsOf(folder, "oracles_judged")).not.toEqual([]); // the fault was there
    const { json } = await autopilot(folder, ["verify", "--json"]);
    const last = piecesOf(json).filter(({ command }) => command === "node --test test/");
    expect(last.length).toBeGreaterThan(1);

    for (const piece of last) {
      expect(piece).toMatchObject({ recorded: "failed", now: "failed", holds: true });
    }
  });

  test("a blob that is not what its name says is found, whatever it was kept for", async () => {
    const { prompt, damaged } = await verified();
    const { code, json } = damaged;
    expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "evidence_differs" });
    expect(json["blobs"]).toMatchObject({ damaged: [{ id: prompt }] });
  });
});
