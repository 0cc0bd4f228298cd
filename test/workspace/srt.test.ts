// Anthropic's sandbox runtime, if it is installed; and what it would be told, anywhere.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chooseIsolation } from "../../src/workspace/isolation/isolation.ts";
import { buildSrtSettings } from "../../src/workspace/isolation/srt-settings.ts";
import { createSrtIsolation, sweepSrtSockets } from "../../src/workspace/isolation/srt.ts";
import { baseEnvironment } from "./base-environment.ts";
import { attempt, openBench, type Bench } from "./bench-repository.ts";

const placeOf = ({ root, runDir }: Bench): { hidden: string[]; runDir: string } => ({
  hidden: [root],
  runDir,
});
const hasSrt =
  spawnSync("srt", ["--version"]).status === 0 &&
  spawnSync("rg", ["--version"]).status === 0 &&
  spawnSync("socat", ["-V"]).status === 0;

test.skipIf(!hasSrt)(
  "in the runtime only the layer can be written, and the command line is nowhere in its environment (skipped where srt, ripgrep or socat is not installed)",
  async () => {
    const bench = await openBench();
    const layer = await bench.workspace.openLayer(attempt, []);
    writeFileSync(join(bench.runDir, "journal.jsonl"), "journal");
    const isolation = createSrtIsolation(placeOf(bench));
    expect(await isolation.selfTest()).toEqual([]);
    const script = `echo changed > src/a.ts && echo wrote; cat '${bench.root}/README.md' && echo read-checkout; echo x > '${bench.runDir}/journal.jsonl'; cat '${bench.runDir}/journal.jsonl'; env > environment; echo "$HTTP_PROXY"; exit 7`;

    const { argv, env, cwd } = isolation.wrap({
      argv: ["/bin/sh", "-c", script],
      cwd: layer,
      env: { ...baseEnvironment(process.env), HTTP_PROXY: "http://mine.example" },
      writable: [layer],
      network: "off",
    });

    const { stdout, status } = spawnSync(argv[0] ?? "", argv.slice(1), {
      env,
      cwd,
      encoding: "utf8",
    });
    // A write into a hidden folder may seem to succeed there; outside nothing has come of it.
    expect(stdout).toMatch(/^wrote\n/);
    expect(stdout).toMatch(/http:\/\/mine\.example\n$/);
    expect(stdout).not.toContain("read-checkout");
    expect(status).toBe(7);
    expect(readFileSync(join(bench.runDir, "journal.jsonl"), "utf8")).toBe("journal");
    expect(readFileSync(join(layer, "src/a.ts"), "utf8")).toBe("changed\n");
    expect(readFileSync(join(layer, "environment"), "utf8")).not.toMatch(
      /srt\.[A-Za-z0-9+/=]{20,}/,
    );

    expect(readdirSync(layer).toSorted()).toEqual([
      ".git",
      ".gitignore",
      "README.md",
      "docs",
      "environment",
      "src",
    ]);
  },
);

test("its settings deny whatever holds no programs, give back what the command needs, and let one address through", async () => {
  const bench = await openBench();
  const layer = await bench.workspace.openLayer(attempt, []);

  const order = {
    place: placeOf(bench),
    command: {
      argv: ["/bin/true"],
      cwd: layer,
      env: { PATH: "/usr/bin:/bin" },
      writable: [layer],
      network: "egress",
      egress: { socket: "", port: 4711 },
    },
    writable: [layer],
    program: "/bin/true",
    isMac: false,
  } as const;

  const { network, filesystem } = buildSrtSettings(order, ["/usr", "/etc", "/proc", "/tmp"]);
  expect(network).toEqual({
    allowedDomains: ["127.0.0.1:4711"],
    deniedDomains: [],
    allowLocalBinding: false,
  });

  expect(filesystem.denyRead).toEqual(expect.arrayContaining(["/tmp", bench.root]));
  if (existsSync(homedir())) expect(filesystem.denyRead).toContain(homedir());
  expect(filesystem.denyRead).not.toEqual(expect.arrayContaining(["/usr"]));
  expect(filesystem.allowWrite).toEqual([layer]);
  expect(filesystem.allowRead).toContain(layer);
  expect(
    buildSrtSettings({ ...order, command: { ...order.command, network: "off" } }).network
      .allowedDomains,
  ).toEqual([]);

  expect(buildSrtSettings({ ...order, isMac: true }).network.allowLocalBinding).toBe(true);
});

test("a runtime that holds nothing, or none at all, is refused with the reason", async () => {
  const bench = await openBench();
  const path = process.env["PATH"];
  const fake = join(bench.runDir, "fake");
  mkdirSync(fake);

  for (const name of ["bwrap", "socat", "rg"]) {
    writeFileSync(join(fake, name), "#!/bin/sh\n", { mode: 0o755 });
  }

  process.env["PATH"] = `${fake}:/usr/bin:/bin`;
  try {
    expect(await chooseIsolation("srt", placeOf(bench))).toMatchObject({
      failure: { detail: "srt: srt is not installed" },
    });

    writeFileSync(
      join(fake, "srt"),
      '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n',
      { mode: 0o755 },
    );

    const choice = await chooseIsolation("srt", placeOf(bench));
    expect("failure" in choice && choice.failure.detail).toMatch(
      /forbidden write succeeded; a hidden file could be read; the network was not shut off/,
    );
  } finally {
    process.env["PATH"] = path;
  }
});

test("sockets that a killed runtime left are taken away, those of a living one and anything else are not", () => {
  const folder = join(tmpdir(), `autopilot-srt-${process.getuid?.() ?? 0}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const gone = spawnSync("true").pid;
  const names = [`srt-mux-${gone}-0.sock`, `srt-mux-${process.pid}-7.sock`, `kept-${gone}.sock`];
  for (const name of names) writeFileSync(join(folder, name), "");
  sweepSrtSockets();
  expect(names.map((name) => existsSync(join(folder, name)))).toEqual([false, true, true]);
  for (const name of names) rmSync(join(folder, name), { force: true });
});
