import { type AddressInfo, createServer, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { openAccount } from "./account.ts";
import { openPerAccountMax } from "./limits.ts";
import { openTunnel } from "./proxy.ts";

test("tunnels whose names are looked up at the same time still keep to the limit", async () => {
  const server = createServer();
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  const authority = `slow.example:${(server.address() as AddressInfo).port}`;

  const account = openAccount({
    attempt: "a",
    upstreams: [],
    hosts: [authority],
    left: () => ({ tokens: 1, usd: 1, calls: 1 }),
    isUnpaid: () => false,
    onCut: () => undefined,
    onLife: () => undefined,
    onTool: async () => ({ ok: true, text: "" }),
  });

  let answerLookups = (): void => undefined;
  const lookedUp = new Promise<void>((resolve) => (answerLookups = resolve));
  const lookup = (): Promise<readonly string[]> => lookedUp.then(() => ["127.0.0.1"]);
  const agents = Array.from({ length: openPerAccountMax.tunnel + 2 }, () => openAgentSide());
  const opened = agents.map(({ socket }) =>
    openTunnel({ account, authority, socket, head: Buffer.alloc(0), lookup }),
  );

  answerLookups();
  await Promise.all(opened);
  expect(account.countAttached("tunnel")).toBe(openPerAccountMax.tunnel);
  expect(agents.filter(({ written }) => written.join("").startsWith("HTTP/1.1 429"))).toHaveLength(
    2,
  );

  account.close();
  await new Promise<void>((done) => void server.close(() => done()));
});

/** The agent's end of a connection, and what is written to it. */
function openAgentSide(): { readonly socket: Socket; readonly written: string[] } {
  const written: string[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.toString("latin1"));
      done();
    },
  });

  return { socket: socket as unknown as Socket, written };
}
