// main: the program that forwards connections out of a sandbox. What is sent to 127.0.0.1:PORT (and
// [::1]:PORT) comes out at the socket that was mounted into the sandbox, byte for byte. It has no
// secrets.
//
// usage: egress.cjs PORT SOCKET
//
// Invariants:
//   D1. It listens on the sandbox's own loopback alone.
//   D2. It buffers nothing: what one side does not read, the other side cannot send.

import { connect, createServer, type Socket } from "node:net";

const connectionsMax = 512;
const [port = "", socket = ""] = process.argv.slice(2);

function forward(inner: Socket): void {
  const outer = connect({ path: socket, allowHalfOpen: true });
  inner.setNoDelay(true);

  for (const [source, target] of [
    [inner, outer],
    [outer, inner],
  ] as const) {
    source.on("error", () => target.destroy());
    source.on("close", (hadError) => hadError && target.destroy());
    source.pipe(target); // D2
  }
}

function listen(host: string, onError: () => void): void {
  const server = createServer({ allowHalfOpen: true }, forward);
  server.maxConnections = connectionsMax;
  server.on("error", onError);
  server.listen({ host, port: Number(port) }); // D1
}

process.title = "autopilot-egress";
listen("127.0.0.1", () => process.exit(1));
// A machine without IPv6 can't listen there, and nothing will connect there.
listen("::1", () => undefined);
