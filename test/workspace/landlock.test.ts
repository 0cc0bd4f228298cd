// Landlock: set up by whichever language is there, it holds what it says, lets honest work pass,
// and never starts anything without being in force.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Command, type Isolation } from "../../src/workspace/isolation/confinement.ts";
import { chooseIsolation } from "../../src/workspace/isolation/isolation.ts";
import { auditArchitectures, callNumbers } from "../../src/workspace/isolation/call-numbers.ts";
import {
  buildLandlockFilter,
  buildSharedObjectFilter,
} from "../../src/workspace/isolation/landlock-filter.ts";
import { findLandlock } from "../../src/workspace/isolation/landlock-program.ts";
import { createLandlockIsolation } from "../../src/workspace/isolation/landlock.ts";
import { baseEnvironment } from "./base-environment.ts";
import { attempt, openBench, type Bench } from "./bench-repository.ts";

const languages = ["perl", "python3"].filter((name) => findLandlock([name]).abi > 0);
const placeOf = ({ root, runDir }: Bench): { hidden: string[]; runDir: string } => ({
  hidden: [root],
  runDir,
});

function run(
  isolation: Isolation,
  layer: string,
  script: string,
  more: Partial<Command> = {},
): string {
  const { argv, env, cwd } = isolation.wrap({
    argv: ["/bin/sh", "-c", script],
    cwd: layer,
    env: { ...baseEnvironment(process.env), GIT_DIR: "/evil" },
    writable: [layer],
    network: "off",
    ...more,
  });

  const { stdout } = spawnSync(argv[0] ?? "", argv.slice(1), {
    env,
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return stdout;
}

describe.skipIf(languages.length === 0)(
  "landlocked (skipped where the kernel has no Landlock, or neither perl nor python3 is there)",
  () => {
    test.each(languages)(
      "by %s, only the layer and its own HOME can be written, and the checkout and the journal cannot be read",
      async (language) => {
        const bench = await openBench();
        const layer = await bench.workspace.openLayer(attempt, []);
        writeFileSync(join(bench.runDir, "journal.jsonl"), "journal");
        const isolation = createLandlockIsolation(placeOf(bench), [language]);
        expect(await isolation.selfTest()).toEqual([]);

        const said = run(
          isolation,
          layer,
          `echo changed > src/a.ts && echo wrote
       echo x > "$HOME/x" && echo x > "$TMPDIR/x" && echo wrote-own
       cat '${bench.root}/README.md' && echo read-checkout
       cat '${bench.runDir}/journal.jsonl' && echo read-journal
       cat /etc/shadow && echo read-shadow
       echo x > '${bench.root}/x' && echo wrote-checkout
       echo x > '${bench.runDir}/journal.jsonl' && echo wrote-journal
       echo x > /tmp/autopilot-landlock && echo wrote-tmp
       exit 0`,
        );
        expect(said.trim().split("\n")).toEqual(["wrote", "wrote-own"]);
        expect(readFileSync(join(layer, "src/a.ts"), "utf8")).toBe("changed\n");
        expect(readFileSync(join(bench.runDir, "journal.jsonl"), "utf8")).toBe("journal");
        expect(existsSync("/tmp/autopilot-landlock")).toBe(false);
      },
    );

    test("honest work passes: git, pipes, a program of Node with children and threads", async () => {
      const bench = await openBench();
      const layer = await bench.workspace.openLayer(attempt, []);
      const isolation = createLandlockIsolation(placeOf(bench));
      const program = `const { execFileSync, fork } = require("node:child_process"); const { Worker } = require("node:worker_threads"); execFileSync("git", ["--version"]); new Worker("1", { eval: true }).on("exit", () => console.log("node"))`;

      const said = run(
        isolation,
        layer,
        `echo x >> src/a.ts && git add -A && git commit -qm x && git log --oneline | wc -l && seq 3 | sort -r | head -1 && chmod +x src/a.ts && ls /etc/hosts /proc/self/status && ${process.execPath} -e '${program}' && echo 1 > /dev/null && mkdir a && mv src/a.ts a/b.ts && ln a/b.ts a/c.ts && ln -s b.ts a/d.ts && rm -r a && echo end`,
      );
      expect(said.trim().split("\n")).toEqual([
        "2",
        "3",
        "/etc/hosts",
        "/proc/self/status",
        "node",
        "end",
      ]);
    });

    test("settings above its folder can be read, but no link to something else, and nothing beside them", async () => {
      const bench = await openBench();
      const layer = await bench.workspace.openLayer(attempt, []);
      writeFileSync(join(bench.root, "Cargo.toml"), "[workspace]\n");
      writeFileSync(join(bench.root, "secret"), "secret\n");
      symlinkSync(join(bench.root, "secret"), join(bench.root, ".editorconfig"));
      const script = `cd '${bench.root}'; cat Cargo.toml; cat .editorconfig; cat secret; exit 0`;
      const isolation = createLandlockIsolation(placeOf(bench));
      expect(run(isolation, layer, script)).toBe("[workspace]\n");
    });

    test("a program that only pretends to set it up fails the self-test", async () => {
      const bench = await openBench();
      const fake = join(bench.runDir, "fake");
      mkdirSync(fake);
      // It knows the answer to the question, and then starts the command as it is: the one after
      // the rules.
      const pretend =
        '#!/bin/sh\ncase "$2" in "print syscall"*) echo 7; exit;; esac\nshift 8\ncount=$1; shift\nwhile [ "$count" -gt 0 ]; do shift 2; count=$((count - 1)); done\nexec "$@"\n';
      writeFileSync(join(fake, "perl"), pretend, { mode: 0o755 });
      const path = process.env["PATH"];
      process.env["PATH"] = `${fake}:${path ?? ""}`;

      try {
        const choice = await chooseIsolation("landlock", placeOf(bench));
        expect("failure" in choice && choice.failure.detail).toMatch(
          /forbidden write succeeded; a hidden file could be read; the network was not shut off/,
        );
      } finally {
        process.env["PATH"] = path;
      }
    });

    test("where a rule cannot be made, nothing starts", async () => {
      const bench = await openBench();
      const layer = await bench.workspace.openLayer(attempt, []);

      const { argv, env, cwd } = createLandlockIsolation(placeOf(bench)).wrap({
        argv: ["/bin/echo", "started"],
        cwd: layer,
        env: {},
        writable: [layer],
        network: "off",
      });
      const broken = argv.map((word) =>
        /^[0-9a-f]{100,},[0-9a-f]+$/.test(word) ? word.replace(/,/, ",ff") : word,
      );
      expect(broken).not.toEqual(argv);

      const { status, stdout, stderr } = spawnSync(broken[0] ?? "", broken.slice(1), {
        env: { PATH: process.env["PATH"], ...env },
        cwd,
        encoding: "utf8",
      });
      expect([status, stdout]).toEqual([126, ""]);
      expect(stderr).toContain("landlock: no call filter");
    });
  },
);

test("without perl and python3 it is refused with the reason", async () => {
  const bench = await openBench();
  const path = process.env["PATH"];
  process.env["PATH"] = join(bench.runDir, "nothing");

  try {
    expect(await chooseIsolation("landlock", placeOf(bench))).toMatchObject({
      failure: { reason: "isolation_unavailable" },
    });
  } finally {
    process.env["PATH"] = path;
  }
});

describe("the call filter", () => {
  /** The kernel's own way of reading it, for the few words it uses. */
  const answer = (
    filter: Buffer,
    data: { readonly number: number; readonly arch: number } & Partial<
      Record<"first" | "second" | "third" | "fourth", number>
    >,
  ): number => {
    const { number, arch, first = 0, second = 0, third = 0, fourth = 0 } = data;
    const at: Record<number, number> = {
      0: number,
      4: arch,
      16: first,
      24: second,
      32: third,
      40: fourth,
    };

    let held = 0;
    for (let place = 0; place < filter.length / 8; place += 1) {
      const [code, yes, no, value] = [
        filter.readUInt16LE(place * 8),
        filter[place * 8 + 2] ?? 0,
        filter[place * 8 + 3] ?? 0,
        filter.readUInt32LE(place * 8 + 4),
      ];
      if (code === 0x20) held = at[value] ?? 0;
      else if (code === 0x54) held &= value;
      else if (code === 0x15) place += held === value ? yes : no;
      else if (code === 0x35) place += held >= value ? yes : no;
      else if (code === 0x45) place += (held & value) !== 0 ? yes : no;
      else return value;
    }

    throw new Error("no answer");
  };

  const [allow, refuse, absent] = [0x7fff0000, 0x00050001, 0x00050026];
  const [tcp, udp, unix] = [
    { first: 2, second: 0x80801 },
    { first: 2, second: 2 },
    { first: 1, second: 1 },
  ];

  test.each([
    ["a read", "off", { number: 0 }, allow],
    ["a stream where there is no network", "off", { number: 41, ...tcp }, refuse],
    ["a stream where there is the egress", "egress", { number: 41, ...tcp }, allow],
    [
      "a stream over IPv6 where there is the egress",
      "egress",
      { number: 41, first: 10, second: 1 },
      allow,
    ],
    ["a datagram where there is the egress", "egress", { number: 41, ...udp }, refuse],
    [
      "a raw socket where there is the egress",
      "egress",
      { number: 41, first: 2, second: 3 },
      refuse,
    ],
    ["a datagram where there is all of the network", "on", { number: 41, ...udp }, allow],
    ["a socket that is a file", "on", { number: 41, ...unix }, refuse],
    ["a socket to the machine's host", "on", { number: 41, first: 40, second: 1 }, refuse],
    ["a question about the network's devices", "off", { number: 41, first: 16, second: 3 }, allow],
    [
      "a question about other sockets",
      "off",
      { number: 41, first: 16, second: 3, third: 4 },
      refuse,
    ],
    ["a stream by TCP's own number", "egress", { number: 41, ...tcp, third: 6 }, allow],
    ["a stream of several paths (MPTCP)", "egress", { number: 41, ...tcp, third: 262 }, refuse],
    [
      "a stream of several paths over IPv6",
      "egress",
      { number: 41, first: 10, second: 1, third: 262 },
      refuse,
    ],
    ["a stream by SCTP", "egress", { number: 41, ...tcp, third: 132 }, refuse],
    ["sending what connects (sendto)", "egress", { number: 44, fourth: 0x20004000 }, refuse],
    ["sending what connects (sendmsg)", "egress", { number: 46, third: 0x20000000 }, refuse],
    ["sending what connects (sendmmsg)", "egress", { number: 307, fourth: 0x20000000 }, refuse],
    ["plain sending (sendto)", "egress", { number: 44, fourth: 0x4000 }, allow],
    ["plain sending (sendmsg)", "egress", { number: 46, third: 0x4000, fourth: 0x20000000 }, allow],
    ["listening, which needs no port to be named", "egress", { number: 50 }, refuse],
    ["listening where there is all of the network", "on", { number: 50 }, allow],
    ["shared memory", "on", { number: 30 }, refuse],
    ["a semaphore", "on", { number: 64 }, refuse],
    ["a message queue", "on", { number: 68 }, refuse],
    ["a message queue by name", "on", { number: 240 }, refuse],
    ["a key", "on", { number: 250 }, refuse],
    ["its own limits", "on", { number: 302, first: 0 }, allow],
    ["another's limits", "on", { number: 302, first: 4711 }, refuse],
    ["its own priority", "on", { number: 141, first: 0, second: 0 }, allow],
    ["another's priority", "on", { number: 141, first: 0, second: 4711 }, refuse],
    ["the priority of all of a user's", "on", { number: 141, first: 2, second: 0 }, refuse],
    ["its own place at the disk", "on", { number: 251, first: 1, second: 0 }, allow],
    ["the place of all of a user's", "on", { number: 251, first: 3, second: 0 }, refuse],
    ["another's policy", "on", { number: 144, first: 4711 }, refuse],
    ["a queue of calls", "on", { number: 425 }, absent],
    ["a call by a foreign number", "on", { number: 0x40000000 + 41, ...tcp }, refuse],
  ] as const)("%s, network %s", (_, network, data, expected) => {
    expect(
      answer(buildLandlockFilter("x64", network), { arch: auditArchitectures.x64, ...data }),
    ).toBe(expected);
  });

  test("on arm64 the same calls are meant, by its own numbers", () => {
    const ask = (data: {
      readonly number: number;
      readonly first?: number;
      readonly second?: number;
      readonly third?: number;
    }): number =>
      answer(buildLandlockFilter("arm64", "egress"), { arch: auditArchitectures.arm64, ...data });
    expect(ask({ number: callNumbers.socket.arm64, first: 2, second: 1 })).toBe(allow);
    expect(ask({ number: callNumbers.socket.arm64, first: 2, second: 1, third: 262 })).toBe(refuse);
    expect(ask({ number: callNumbers.prlimit64.arm64, first: 1 })).toBe(refuse);
    expect(ask({ number: callNumbers.shmat.arm64 })).toBe(refuse);
    expect(ask({ number: callNumbers.socket.x64, first: 2, second: 1, third: 262 })).toBe(allow);
  });

  test("a box with a network of its own has the same filter without sockets", () => {
    const ask = (number: number, first = 0): number =>
      answer(buildSharedObjectFilter("x64"), { arch: auditArchitectures.x64, number, first });
    expect([ask(41, 1), ask(50), ask(30), ask(250), ask(302, 1), ask(302)]).toEqual([
      allow,
      allow,
      refuse,
      refuse,
      refuse,
      allow,
    ]);
  });

  const headers = {
    x64: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    arm64: "/usr/include/asm-generic/unistd.h",
  } as const;
  const known = (["x64", "arm64"] as const).filter((processor) => existsSync(headers[processor]));
  test.skipIf(known.length === 0)(
    "the numbers are the kernel's own, for both processors (needs its headers)",
    () => {
      for (const processor of known) {
        const text = readFileSync(headers[processor], "utf8");
        for (const [name, numbers] of Object.entries(callNumbers)) {
          expect(
            Number(new RegExp(`define __NR_${name}\\s+(\\d+)`).exec(text)?.[1]),
            `${name} on ${processor}`,
          ).toBe(numbers[processor]);
        }
      }
    },
  );

  test("a call of another machine's kind is refused, whatever it is", () => {
    expect(answer(buildLandlockFilter("x64", "on"), { arch: 0x40000003, number: 0 })).toBe(refuse);
  });
});

test.skipIf(languages.length === 0)(
  "the list of what it holds goes with the kernel's version (skipped without Landlock)",
  async () => {
    const bench = await openBench();
    const { mechanism, enforced, not_enforced } = createLandlockIsolation(placeOf(bench));
    expect(mechanism).toContain(`version ${findLandlock().abi}`);
    expect(not_enforced.join()).toContain("modes, owners, times and attributes");
    expect([...enforced, ...not_enforced].length).toBe(
      new Set([...enforced, ...not_enforced]).size,
    );

    expect(execFileSync("uname", { encoding: "utf8" }).trim()).toBe("Linux");
  },
);
