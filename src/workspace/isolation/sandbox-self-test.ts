// sandbox-self-test: tests a sandbox by running one probe in it: what must work works, and what
// must fail fails.
//
// Invariants:
//   T1. Writes and connections are verified from outside; the sandbox's own report counts if it
//       admits a breach, and for the egress, whose answer only it can have seen.
//   T2. Everything that must fail would succeed without the sandbox: the folders are the user's
//       own, the listener runs and answers.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  privateHome,
  type Command,
  type IsolationPlace,
  type WrappedCommand,
} from "./confinement.ts";
import { readErrorCode } from "../failure.ts";
import { erase } from "../folder.ts";
import { createSocketFolder } from "../temporary-folder.ts";

export type SandboxTest = {
  readonly place: IsolationPlace;
  readonly wrap: (command: Command) => WrappedCommand;
  /** Given for a sandbox that keeps writes apart from the folder: merges them into it. */
  readonly collect?: (folder: string) => Promise<void>;
};

export const networkFailure = "the network was not shut off";
export const egressFailure = "the egress did not lead out";
const probeTimeoutMs = 20_000;
const errorCharsMax = 300;
const egressWaitMs = 5_000;

type ProbeReport = {
  readonly wrote: readonly string[];
  readonly seen: readonly string[];
  readonly egress: string;
  readonly connected: boolean;
};

/** Returns sentences about what did not hold; none if the sandbox works here. */
export async function testSandbox({
  place,
  wrap,
  collect,
}: SandboxTest): Promise<readonly string[]> {
  await mkdir(privateHome(place.runDir), { recursive: true, mode: 0o700 });
  // HOME is where a write would succeed without isolation, so its failure proves something.
  const homeFile = join(homedir(), `.autopilot-self-test-${process.pid}`);
  const testFolder = await mkdtemp(join(place.runDir, "self-test-"));
  // A socket's path is limited, and a run's folder may be deep.
  const egressFolder = await createSocketFolder("egress", "s");
  let connections = 0;
  const outside = await listen(
    createServer((socket) => void (connections++, socket.end("outside"))),
    0,
  );

  const egress = await listen(
    createServer((socket) => void socket.end("egress")),
    join(egressFolder, "s"),
  );

  try {
    const folder = join(testFolder, "inside");
    const sibling = join(testFolder, "sibling");
    await createFiles(folder, sibling);

    const forbidden = [
      join(sibling, "file"),
      join(testFolder, "file"),
      join(place.runDir, "self-test-file"),
      homeFile,
    ];

    const hidden = [join(sibling, "secret")];
    const port = readServerPort(outside);
    const egressPort = port === 65_535 ? port - 1 : port + 1; // any other port: inside, nothing else listens there
    const probeInput = { folder, forbidden, hidden, port, egressPort, waitMs: egressWaitMs };

    const wrapped = wrap({
      argv: [process.execPath, "-e", probeScript, JSON.stringify(probeInput)],
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
      writable: [folder],
      network: "egress",
      egress: { socket: join(egressFolder, "s"), port: egressPort },
      ...(collect === undefined ? {} : { writes: "apart" as const }),
    });

    const { report, err } = await runProbe(wrapped);
    const errorSuffix = err === "" ? "" : ` (${err})`;
    const wasKeptApart = collect !== undefined && !existsSync(join(folder, "made"));
    await collect?.(folder);

    if (
      report === null ||
      (await readFile(join(folder, "made"), "utf8").catch(() => "")) !== "ok"
    ) {
      return [`it could not start or not write its own folder${errorSuffix}`];
    }

    const isMerged =
      !existsSync(join(folder, "gone")) && !existsSync(join(folder, "changed", "old"));
    const failures: string[] = [];

    if (report.wrote.length > 0 || forbidden.some((path) => existsSync(path))) {
      failures.push("a forbidden write succeeded");
    } // T1

    if (report.seen.length > 0) failures.push("a hidden file could be read");
    if (report.connected || connections > 0) failures.push(networkFailure);
    if (report.egress !== "egress") failures.push(egressFailure);
    if (collect !== undefined && !(wasKeptApart && isMerged)) {
      failures.push("what was written was not kept apart");
    }

    return failures;
  } catch (error) {
    return [`it could not be tried: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    outside.close();
    egress.close();
    await Promise.all(
      [testFolder, egressFolder, homeFile, join(place.runDir, "self-test-file")].map(erase),
    );
  }
}

/** Files that the probe reads, changes and deletes. */
async function createFiles(folder: string, sibling: string): Promise<void> {
  await mkdir(join(folder, "changed"), { recursive: true });
  await mkdir(sibling);
  await Promise.all([
    writeFile(join(sibling, "secret"), "secret"),
    writeFile(join(folder, "gone"), ""),
    writeFile(join(folder, "changed", "old"), ""),
  ]);
}

// Runs inside the sandbox: tries everything and reports, as a ProbeReport, what it could do.
const probeScript = `
const fs = require("node:fs"), net = require("node:net");
const order = JSON.parse(process.argv[1]);
process.chdir(order.folder); // a sandbox that does not work may have started us anywhere
const can = (action) => { try { action(); return true; } catch { return false; } };
can(() => fs.rmSync("gone"));
can(() => { fs.rmSync("changed", { recursive: true }); fs.mkdirSync("changed"); fs.writeFileSync("changed/new", ""); });
const wrote = order.forbidden.filter((path) => can(() => fs.writeFileSync(path, "bad")));
const seen = order.hidden.filter((path) => can(() => fs.readFileSync(path)));
const call = (port, done) => {
  let text = "";
  const socket = net.connect(port, "127.0.0.1");
  socket.on("data", (bytes) => (text += bytes)).on("error", () => undefined).on("close", () => done(text));
};
// If a forbidden write succeeded, the test has failed already, and there is no need to wait for the egress.
const until = wrote.length > 0 ? 0 : Date.now() + order.waitMs;
const knock = (done) => call(order.egressPort, (text) => (text === "" && Date.now() < until ? setTimeout(knock, 3, done) : done(text)));
call(order.port, (outside) => knock((egress) => {
  fs.writeFileSync("made", "ok");
  process.stdout.write(JSON.stringify({ wrote, seen, egress, connected: outside !== "" }));
}));`;

function runProbe({
  argv,
  env,
  cwd,
}: WrappedCommand): Promise<{ readonly report: ProbeReport | null; readonly err: string }> {
  const [program = "", ...args] = argv;
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { env, cwd, timeout: probeTimeoutMs, killSignal: "SIGKILL" },
      (error, out, err) => {
        resolve({
          report: parseProbeOutput(out),
          err: err.trim().slice(0, errorCharsMax) || (readErrorCode(error) ?? ""),
        });
      },
    );
  });
}

function parseProbeOutput(out: string): ProbeReport | null {
  try {
    return JSON.parse(out) as ProbeReport;
  } catch {
    return null;
  }
}

function listen(server: Server, address: number | string): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const ready = (): void => resolve(server);
    if (typeof address === "number") server.listen({ host: "127.0.0.1", port: address }, ready);
    else server.listen({ path: address }, ready);
  });
}

function readServerPort(server: Server): number {
  const address = server.address();
  return address !== null && typeof address === "object" ? address.port : 0;
}
