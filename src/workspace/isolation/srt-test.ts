// srt-test: tests a sandbox whose own report cannot be believed: inside it, a write into a hidden
// folder may seem to succeed. So only what is seen outside counts.
//
// Invariants:
//   O1. Writes, reads and connections are verified from outside: the command copies what it could
//       read into its own folder.
//   O2. Everything that must fail would succeed without the sandbox.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  privateHome,
  type Command,
  type IsolationPlace,
  type WrappedCommand,
} from "./confinement.ts";
import { egressFailure, networkFailure } from "./sandbox-self-test.ts";
import { readErrorCode } from "../failure.ts";
import { erase } from "../folder.ts";

export type OutsideTest = {
  readonly place: IsolationPlace;
  readonly wrap: (command: Command) => WrappedCommand;
  readonly isMac: boolean;
};

const probeTimeoutMs = 30_000;
/** How long the probe waits for the egress. */
const egressWaitMs = 4_000;
const errorCharsMax = 300;

// Runs inside the sandbox and tries everything. The egress may open a moment after the sandbox, so
// an early connection to it is retried. It ends when the egress was reached (the file `enough`), or
// after `waitMs`.
const probeScript = `
const fs = require("node:fs"), net = require("node:net");
const order = JSON.parse(process.argv[1]);
const can = (action) => { try { action(); } catch {} };
for (const path of order.forbidden) can(() => fs.writeFileSync(path, "bad"));
can(() => fs.copyFileSync(order.hidden, "seen"));
const call = (port, left) => {
  const socket = net.connect(port, "127.0.0.1");
  socket.on("data", () => undefined).on("error", () => left > 0 && setTimeout(call, 20, port, left - 1));
};
call(order.port, 0);
call(order.egressPort, 150);
fs.writeFileSync("made", "ok");
setTimeout(() => process.exit(), order.waitMs);
const look = setInterval(() => fs.existsSync("enough") && process.exit(), 20);`;

/** Returns sentences about what did not hold; none if the sandbox works here. */
export async function testFromOutside({
  place,
  wrap,
  isMac,
}: OutsideTest): Promise<readonly string[]> {
  await mkdir(privateHome(place.runDir), { recursive: true });
  const testFolder = await mkdtemp(join(place.runDir, "self-test-"));
  const homeFile = join(homedir(), `.autopilot-self-test-${process.pid}`);
  const folder = join(testFolder, "inside");
  const connections = { outside: 0, egress: 0 };
  const outside = await listen(() => (connections.outside += 1));
  const egress = await listen(() => {
    connections.egress += 1;
    void writeFile(join(folder, "enough"), "").catch(() => undefined);
  });

  try {
    await mkdir(folder);
    await mkdir(join(testFolder, "sibling"));
    await writeFile(join(testFolder, "sibling", "secret"), "secret");
    const forbidden = [join(testFolder, "sibling", "file"), join(testFolder, "file"), homeFile];

    const probeInput = {
      forbidden,
      hidden: join(testFolder, "sibling", "secret"),
      port: readServerPort(outside),
      egressPort: readServerPort(egress),
      waitMs: egressWaitMs,
    };

    const wrapped = wrap({
      argv: [process.execPath, "-e", probeScript, JSON.stringify(probeInput)],
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
      writable: [folder],
      network: "egress",
      egress: { socket: "", port: probeInput.egressPort },
    });
    const errorText = await runProbe(wrapped);

    if ((await readFile(join(folder, "made"), "utf8").catch(() => "")) !== "ok") {
      return [
        `it could not start or not write its own folder${errorText === "" ? "" : ` (${errorText})`}`,
      ];
    }

    const failures: string[] = [];
    if (forbidden.some((path) => existsSync(path))) failures.push("a forbidden write succeeded"); // O1
    if (existsSync(join(folder, "seen"))) failures.push("a hidden file could be read");
    if (connections.outside > 0 && !isMac) failures.push(networkFailure); // a Mac's sandbox shares the machine's loopback
    if (connections.egress === 0) failures.push(egressFailure);

    return failures;
  } catch (error) {
    return [`it could not be tried: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    outside.close();
    egress.close();
    await Promise.all([testFolder, homeFile].map(erase));
  }
}

function listen(onCall: () => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      onCall();
      socket.on("error", () => undefined).end("hello");
    });
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}

const readServerPort = (server: Server): number => (server.address() as AddressInfo).port;

function runProbe({ argv, env, cwd }: WrappedCommand): Promise<string> {
  const [program = "", ...args] = argv;
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { env, cwd, timeout: probeTimeoutMs, killSignal: "SIGKILL" },
      (error, _out, err) => {
        resolve(err.trim().slice(0, errorCharsMax) || (readErrorCode(error) ?? ""));
      },
    );
  });
}
