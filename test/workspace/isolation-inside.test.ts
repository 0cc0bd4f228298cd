// What is in a box and what is not: programs are, everything else of the machine is absent, and
// nothing can be written but the layer.

import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { erase } from "../../src/workspace/folder.ts";
import { turnTest } from "../support/sampled.ts";
import { attempt, makeRoom, openBench, type Bench } from "./bench-repository.ts";
import { boxLevels, hasBoxes, openLevel, run, start, type Outcome } from "./boxed.ts";
import type { Command, Isolation } from "../../src/workspace/isolation/confinement.ts";

const left: string[] = [];
afterEach(() => Promise.all(left.splice(0).map(erase)));

type Opened = { readonly bench: Bench; readonly layer: string; readonly isolation: Isolation };
async function open(level: (typeof boxLevels)[number]): Promise<Opened> {
  const bench = await openBench();
  const layer = await bench.workspace.openLayer(attempt, []);
  return { bench, layer, isolation: await openLevel(level, bench) };
}

/** A folder in the user's HOME, as a strange place that no list names. */
function strangePlace(): string {
  const folder = realpathSync(mkdtempSync(join(homedir(), ".autopilot-test-")));
  left.push(folder);
  return folder;
}

describe.skipIf(!hasBoxes).each(boxLevels)("%s (needs bubblewrap and namespaces)", (level) => {
  /** What the two boxes are made of is the same; what may be written differs. */
  const testOrInTurn = level === "overlay" ? test : turnTest;

  test("the user's HOME, other repositories, the run's journal and other people's temporary files are absent, not just unreadable", async () => {
    const { bench, layer, isolation } = await open(level);
    writeFileSync(join(bench.runDir, "journal.jsonl"), "journal");
    const home = strangePlace();
    const beside = makeRoom();
    const places = [join(home, "key"), join(beside, "other.txt")];
    for (const path of places) writeFileSync(path, "secret");
    const all = [...places, join(bench.runDir, "journal.jsonl"), join(bench.root, "README.md")];
    for (const path of all) expect(readFileSync(path, "utf8")).not.toBe(""); // they are there, outside

    const { out } = run(
      isolation,
      layer,
      all.map((path) => `cat '${path}'; [ -e '${path}' ] && echo there`).join("\n"),
    );
    expect(out).toBe("");

    for (const folder of [
      "/srv",
      "/mnt",
      "/media",
      "/boot",
      "/var/log",
      "/var/lib",
      "/sys/kernel",
      "/run/systemd",
    ]) {
      expect(run(isolation, layer, `[ -e ${folder} ] && ls -A ${folder}`).out).toBe("");
    }
  });

  testOrInTurn(
    "passwords and keys of the machine are absent or empty, its names and certificates are not",
    async () => {
      const { layer, isolation } = await open(level);
      const { out } = run(
        isolation,
        layer,
        "cat /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh/ssh_host_*_key 2>/dev/null; ls -A /etc/ssl/private 2>/dev/null; true",
      );
      expect(out).toBe("");
      expect(run(isolation, layer, "cat /etc/passwd").out).toContain("root");
    },
  );

  test("a write anywhere but the layer, the private HOME and /tmp fails, rather than seeming to succeed", async () => {
    const { bench, layer, isolation } = await open(level);
    const folders = [
      "/",
      "/usr",
      "/etc",
      "/dev",
      "/run",
      "/var",
      "/proc",
      "/sys",
      bench.root,
      bench.runDir,
      join(layer, ".."),
      homedir(),
      "/srv",
      "/home",
    ];

    const { out } = run(
      isolation,
      layer,
      [
        ...folders.map((folder) => `echo x > '${folder}/autopilot-test' && echo "wrote ${folder}"`),
        'echo x > a; echo x > /tmp/a; echo x > "$HOME/a"; echo x > /dev/shm/a; cat a /tmp/a "$HOME/a" /dev/shm/a',
      ].join("\n"),
    );
    expect(out).toBe("x\nx\nx\nx\n");
  });

  testOrInTurn("what /tmp holds is the box's own, bounded, and gone with it", async () => {
    const { layer, isolation } = await open(level);
    const limits = { processesMax: 100, memoryBytesMax: 1e9, diskBytesMax: 1024 ** 2 };
    const outside = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-canary-")));
    left.push(outside);

    const { out } = run(
      isolation,
      layer,
      `ls -d ${outside} 2>/dev/null; head -c 3000000 /dev/zero > /tmp/big || echo full; wc -c < /tmp/big`,
      { limits },
    );
    expect(out.trim()).toBe("full\n1048576");
    expect(run(isolation, layer, "ls /tmp/big").out).toBe("");
  });

  testOrInTurn(
    "programs are found: the machine's, node, npm and git, a tool of the PATH in a strange place, an agent behind links",
    async () => {
      const { layer, isolation } = await open(level);
      const strange = strangePlace();
      const tool = join(strange, "tool");
      mkdirSync(join(tool, "bin"), { recursive: true });
      mkdirSync(join(tool, "lib"));
      writeFileSync(join(tool, "lib", "part"), "part of the tool\n");
      writeFileSync(join(tool, "bin", "tool"), `#!/bin/sh\ncat "$(dirname "$0")/../lib/part"\n`, {
        mode: 0o755,
      });

      const modules = join(strange, "agent", "node_modules");
      mkdirSync(join(modules, "agent"), { recursive: true });
      mkdirSync(join(modules, "needed"));
      mkdirSync(join(modules, ".bin"));
      writeFileSync(join(modules, "needed", "index.js"), "module.exports = 'needed';");
      writeFileSync(
        join(modules, "agent", "main.js"),
        `#!${process.execPath}\nconsole.log(require("needed"));`,
        { mode: 0o755 },
      );

      symlinkSync("../agent/main.js", join(modules, ".bin", "agent"));
      symlinkSync(join(modules, ".bin", "agent"), join(strange, "agent-link"));
      writeFileSync(join(strange, "secret"), "secret");

      const path = `${join(tool, "bin")}:${process.env["PATH"] ?? ""}`;
      const env = { PATH: path };
      expect(
        run(
          isolation,
          layer,
          "tool; node -e 'console.log(1+1)'; git --version; npm --version >/dev/null && echo npm",
          { env },
        ),
      ).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^part of the tool\n2\ngit version.*\nnpm\n$/) as string,
      });

      expect(run(isolation, layer, "", { argv: [join(strange, "agent-link")], env })).toMatchObject(
        { code: 0, out: "needed\n" },
      );

      expect(run(isolation, layer, `cat '${join(strange, "secret")}'`, { env }).out).toBe("");
    },
  );

  test("what is given to read can be read and not written; what is given to write can be", async () => {
    const { layer, isolation } = await open(level);
    const strange = strangePlace();
    mkdirSync(join(strange, "open"));
    mkdirSync(join(strange, "shown"));
    writeFileSync(join(strange, "shown", "login"), "login\n");

    const more: Partial<Command> = {
      readable: [join(strange, "shown")],
      writable: [layer, join(strange, "open")],
      home: "user",
    };

    const { out } = run(
      isolation,
      layer,
      `cat '${strange}/shown/login'; echo x > '${strange}/shown/login' && echo wrote; echo x > '${strange}/open/file'`,
      more,
    );
    expect(out).toBe("login\n");
    expect(readFileSync(join(strange, "open", "file"), "utf8")).toBe("x\n");
    expect(readFileSync(join(strange, "shown", "login"), "utf8")).toBe("login\n");
  });

  testOrInTurn(
    "a HOME made for one command is shown where the user's own is, with nothing of the user's in it",
    async () => {
      const { layer, isolation } = await open(level);
      const strange = strangePlace();
      writeFileSync(join(strange, "key"), "secret");
      const home = makeRoom();
      left.push(home);

      const more: Partial<Command> = {
        writable: [layer, home],
        home: "user",
        env: { PATH: process.env["PATH"] ?? "", HOME: home },
      };

      const { out } = run(
        isolation,
        layer,
        `echo "$HOME"; echo x > ~/made; [ -e '${strange}/key' ] && echo there; [ -e '${home}' ] && echo twice; pwd`,
        more,
      );
      expect(out).toBe(`${realpathSync(homedir())}\n${realpathSync(layer)}\n`);
      expect(readFileSync(join(home, "made"), "utf8")).toBe("x\n");
    },
  );

  testOrInTurn(
    "a link on the way to the layer is there as well, so that the layer is found by the name it was called by",
    async () => {
      const { layer, isolation } = await open(level);
      const strange = strangePlace();
      symlinkSync(layer, join(strange, "way"));
      const { out } = run(isolation, layer, `cat '${strange}/way/README.md'`, {
        readable: [join(strange, "way")],
      });
      expect(out).toBe("hello\n");
    },
  );

  test("no other process is seen, no privilege is had, no namespace can be made, and barred system calls are refused", async () => {
    const { layer, isolation } = await open(level);
    const said = run(
      isolation,
      layer,
      `ls /proc | grep -c '^[0-9]'
       grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'
       unshare -U true 2>/dev/null && echo users
       unshare -rm true 2>/dev/null && echo mounts
       true`,
    ).out.split("\n");
    expect(Number(said[0])).toBeLessThan(8);
    expect(said.slice(1)).toEqual([
      "CapEff:0000000000000000",
      "CapBnd:0000000000000000",
      "NoNewPrivs:1",
      "Seccomp:2",
      "",
    ]);
  });

  testOrInTurn(
    "a listener of the machine cannot be reached unless the network was given",
    async () => {
      const { layer, isolation } = await open(level);
      let calls = 0;
      const server = createServer((socket) => void (calls++, socket.end("outside\n")));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;

      const call = [
        process.execPath,
        "-e",
        `require("node:net").connect(${port}, "127.0.0.1").on("error", () => console.log("refused")).pipe(process.stdout)`,
      ];

      const started = (network: NonNullable<Command["network"]>): Promise<Outcome> =>
        start(isolation, layer, "", { argv: call, network });
      try {
        expect((await started("off")).out).toBe("refused\n");
        expect((await started("egress")).out).toBe("refused\n"); // an egress that leads nowhere is shut
        expect(calls).toBe(0);
        expect((await started("on")).out).toBe("outside\n");
      } finally {
        server.close();
      }
    },
  );
});
