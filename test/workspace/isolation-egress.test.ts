// The egress: the one way out of a box leads to the gateway's socket and nowhere else, and the
// command beside it does not notice.

import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, realpathSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Egress, Isolation } from "../../src/workspace/isolation/confinement.ts";
import { erase } from "../../src/workspace/folder.ts";
import { attempt, openBench } from "./bench-repository.ts";
import { boxLevels, commandOf, hasBoxes, openLevel, start } from "./boxed.ts";

const port = 17_171;
const servers: Server[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await Promise.all(folders.splice(0).map(erase));
});

/** A gateway on its own socket. */
async function gateway(answer: (socket: Socket) => void): Promise<Egress> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-gate-")));
  folders.push(folder);
  const server = createServer({ allowHalfOpen: true }, answer);
  servers.push(server);
  const socket = join(folder, "gateway");
  await new Promise<void>((resolve) => server.listen(socket, resolve));

  return { socket, port };
}

/**
 * A client in the box that waits until the egress stands, then does as told with a connected
 * `socket`.
 */
const client = (host: string, action: string): readonly string[] => [
  process.execPath,
  "-e",
  `const knock = () => {
     const socket = require("node:net").connect({ port: ${port}, host: "${host}", allowHalfOpen: true });
     socket.once("error", () => setTimeout(knock, 5)).once("connect", () => { socket.removeAllListeners("error"); socket.on("error", (error) => console.log(error.code)); ${action} });
   };
   knock();`,
];

async function open(
  level: (typeof boxLevels)[number],
): Promise<{ readonly layer: string; readonly isolation: Isolation }> {
  const bench = await openBench();
  return {
    layer: await bench.workspace.openLayer(attempt, []),
    isolation: await openLevel(level, bench),
  };
}

describe.skipIf(!hasBoxes).each(boxLevels)("%s (needs bubblewrap and namespaces)", (level) => {
  test("what is sent to the port comes out at the socket, whole, in both directions, by either name of the loopback", async () => {
    const { layer, isolation } = await open(level);
    const sent = randomBytes(3_000_000);
    const got: Buffer[] = [];
    const egress = await gateway((socket) => {
      socket.on("data", (bytes) => got.push(bytes));
      socket.on("end", () => socket.end(sent));
    });

    const action = `
      const hash = require("node:crypto").createHash("sha256");
      socket.on("data", (bytes) => hash.update(bytes)).on("end", () => console.log(hash.digest("hex")));
      socket.end(Buffer.alloc(2000000, "a"));`;

    for (const host of ["127.0.0.1", "::1"]) {
      got.length = 0;
      const { out, code } = await start(isolation, layer, "", {
        argv: client(host, action),
        network: "egress",
        egress,
      });

      expect({ out: out.trim(), code }).toEqual({
        out: createHash("sha256").update(sent).digest("hex"),
        code: 0,
      });

      expect(Buffer.concat(got).equals(Buffer.alloc(2_000_000, "a"))).toBe(true);
    }
  });

  test("many calls at once all get through, and a call the gateway drops is dropped", async () => {
    const { layer, isolation } = await open(level);
    let calls = 0;
    const egress = await gateway(
      (socket) => void (++calls % 10 === 0 ? socket.destroy() : socket.end("yes")),
    );

    const action = `
      socket.destroy(); // this one only found the egress
      let left = 40, yes = 0;
      for (let at = 0; at < 40; at++) {
        const one = require("node:net").connect(${port}, "127.0.0.1");
        one.on("data", (bytes) => (yes += String(bytes) === "yes")).on("error", () => undefined).on("close", () => --left === 0 && console.log(yes >= 30));
      }`;

    expect(
      await start(isolation, layer, "", {
        argv: client("127.0.0.1", action),
        network: "egress",
        egress,
      }),
    ).toMatchObject({
      out: "true\n",
      code: 0,
    });

    expect(calls).toBeGreaterThanOrEqual(40);
  });

  test("the command beside the egress keeps its streams, its exit code, its children and its end", async () => {
    const { layer, isolation } = await open(level);
    const egress = await gateway((socket) => void socket.end());

    const wrapped = isolation.wrap(
      commandOf(
        layer,
        "cat; echo to-stderr >&2; sleep 0.2; read -r children < /proc/$$/task/$$/children; echo children: $children; exit 7",
        { network: "egress", egress },
      ),
    );
    const [program = "", ...args] = wrapped.argv;

    const child = spawn(program, args, {
      env: wrapped.env,
      cwd: wrapped.cwd,
      stdio: ["pipe", "pipe", "pipe"],
    });

    let [out, err] = ["", ""];
    child.stdout.on("data", (bytes: Buffer) => (out += bytes.toString("utf8")));
    child.stderr.on("data", (bytes: Buffer) => (err += bytes.toString("utf8")));
    child.stdin.end("from-stdin\n");
    const code = await new Promise((resolve) => child.once("close", resolve)); // the streams end too: nothing else holds them
    expect({ out, err, code }).toEqual({
      out: "from-stdin\nchildren:\n",
      err: "to-stderr\n",
      code: 7,
    });

    const killed = await start(isolation, layer, "kill -9 $$", { network: "egress", egress });
    expect(killed.code).toBe(128 + 9);
  });

  test("the forwarder ends with the box, and so does everything left behind in it", async () => {
    const { layer, isolation } = await open(level);
    const calls: Socket[] = [];
    const ended: Promise<void>[] = [];

    const egress = await gateway((socket) => {
      calls.push(socket);
      socket.on("error", () => undefined).resume();
      ended.push(new Promise((resolve) => socket.once("close", () => resolve())));
      socket.write("hello");
      socket.once("end", () => socket.destroy());
    });

    const stay = client("127.0.0.1", `socket.once("data", () => console.log("held"));`);
    const quoted = stay.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");

    const { out, code } = await start(
      isolation,
      layer,
      `setsid ${quoted} > held & while ! [ -s held ]; do sleep 0.02; done; cat held`,
      {
        network: "egress",
        egress,
      },
    );

    expect({ out, code }).toEqual({ out: "held\n", code: 0 });
    expect(calls).toHaveLength(1); // it was open when the command ended
    await Promise.all(ended);
  });

  test("without an egress the port is shut", async () => {
    const { layer, isolation } = await open(level);
    const egress = await gateway((socket) => void socket.end("yes"));

    const call = [
      process.execPath,
      "-e",
      `require("node:net").connect(${port}, "127.0.0.1").on("error", (error) => console.log(error.code)).pipe(process.stdout)`,
    ];

    expect((await start(isolation, layer, "", { argv: call, network: "off", egress })).out).toBe(
      "ECONNREFUSED\n",
    );

    expect(
      (await start(isolation, layer, "ls /run/autopilot 2>/dev/null", { network: "off", egress }))
        .out,
    ).toBe("");
  });
});
