// pooler: a pooler in transaction mode, as far as a client notices: few connections to the server,
// and each question or transaction gets the next one that is free. What a connection keeps (a named
// statement, a setting) is there for whoever gets it next, and gone for its maker.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const socketName = ".s.PGSQL.5432";
const connections = 2;

type Server = {
  readonly socket: Socket;
  readonly greeting: Buffer;
  readonly take: (on: (message: Buffer) => void) => void;
};
export type Pooler = { readonly folder: string; readonly close: () => void };

/**
 * Calls back with each whole message; `isFirst`: a client's first one has no type before its
 * length.
 */
function messages(socket: Socket, on: (message: Buffer) => void, isFirst = false): void {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = isFirst ? 0 : 1;
  socket.on("data", (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= typeBytes + 4 && rest.length >= typeBytes + rest.readInt32BE(typeBytes)) {
      const size = typeBytes + rest.readInt32BE(typeBytes);
      typeBytes = 1;
      const message = rest.subarray(0, size);
      rest = rest.subarray(size);
      on(message);
    }
  });
}
const typeOf = (message: Buffer): string => String.fromCharCode(message[0] ?? 0);

async function openServer(path: string, startup: Buffer): Promise<Server> {
  const socket = connect(path);
  const greeted: Buffer[] = [];
  let on: (message: Buffer) => void = (message) => {
    greeted.push(message);
    if (typeOf(message) === "Z") socket.emit("greeted");
  };
  messages(socket, (message) => on(message));
  socket.write(startup);
  await once(socket, "greeted");

  return { socket, greeting: Buffer.concat(greeted), take: (next) => void (on = next) };
}

export function openPooler(serverFolder: string): Pooler {
  const folder = mkdtempSync(join(tmpdir(), "autopilot-pooler-"));
  const free: Server[] = [];
  const waiting: ((server: Server) => void)[] = [];
  let opened: Promise<readonly Server[]> | null = null;
  const clients = new Set<Socket>();

  const give = (server: Server): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(server);
    else next(server);
  };

  const took = (): Promise<Server> => {
    const server = free.shift();
    return server === undefined
      ? new Promise((resolve) => void waiting.push(resolve))
      : Promise.resolve(server);
  };

  const listener = createServer((client) => {
    clients.add(client);
    let isGreeted = false;
    let held: Promise<Server> | null = null;
    client.on("error", () => undefined);

    const forward = (server: Server): void =>
      server.take((message) => {
        client.write(message);
        if (typeOf(message) !== "Z" || message[5] !== 73) return; // in a transaction it stays this client's
        held = null;
        give(server);
      });

    messages(
      client,
      (message) => {
        if (!isGreeted) {
          isGreeted = true;
          opened ??= Promise.all(
            Array.from({ length: connections }, () =>
              openServer(join(serverFolder, socketName), Buffer.from(message)),
            ),
          ).then((servers) => {
            servers.forEach(give);
            return servers;
          });

          void opened.then(([first]) => client.write(first?.greeting ?? ""));
          return;
        }

        if (typeOf(message) === "X") return;
        held ??= took().then((server) => {
          forward(server);
          return server;
        });

        void held.then(({ socket }) => socket.write(message));
      },
      true,
    );
  });
  listener.listen(join(folder, socketName));
  return {
    folder,
    close: () => {
      for (const client of clients) client.destroy();
      void opened?.then((servers) => servers.forEach(({ socket }) => socket.destroy()));
      listener.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
