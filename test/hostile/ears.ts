// ears: services of the machine that an agent has no business with. Each remembers what it heard.

import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";

export type Ears = {
  readonly env: Readonly<Record<string, string>>;
  /** Whether something with this word in it came in; what was sent may still be on its way. */
  readonly heard: (word: string) => Promise<boolean>;
  readonly forget: () => void;
  /** For what is listened to elsewhere. */
  readonly hear: (data: Buffer) => void;
  readonly hasIpv6: boolean;
  readonly close: () => Promise<void>;
};

const settleMs = 60;

export async function openEars(room: string): Promise<Ears> {
  let heard = "";
  const hear = (data: Buffer): void => void (heard = `${heard}${data.toString("latin1")}\n`);
  const servers: Server[] = [];

  const listen = (
    where: { readonly host: string } | { readonly path: string },
  ): Promise<number | null> =>
    new Promise((resolve) => {
      const server = createServer((socket) => {
        socket.on("data", hear).on("error", () => undefined);
      });
      server.once("error", () => resolve(null));
      server.listen("host" in where ? { ...where, port: 0 } : where, () => {
        servers.push(server);
        resolve("host" in where ? (server.address() as AddressInfo).port : 0);
      });
    });

  const sockets: UdpSocket[] = [];
  const listenUdp = (): Promise<number> =>
    new Promise((resolve) => {
      const socket = createSocket("udp4", hear);
      sockets.push(socket);
      socket.bind(0, "127.0.0.1", () => resolve(socket.address().port));
    });

  const abstract = `autopilot-hostile-${process.pid}-${Math.random()}`;
  const service = join(room, "s.sock");

  const [tcp, tcp6, udp, names] = [
    await listen({ host: "127.0.0.1" }),
    await listen({ host: "::1" }),
    await listenUdp(),
    await listenUdp(),
  ];

  await listen({ path: service });
  await listen({ path: `\0${abstract}` });

  return {
    env: {
      TCP: String(tcp),
      TCP6: String(tcp6 ?? 0),
      UDP: String(udp),
      NAMES: String(names),
      SERVICE: service,
      ABSTRACT: abstract,
    },
    heard: async (word) => {
      if (!heard.includes(word)) await new Promise((resolve) => setTimeout(resolve, settleMs));
      return heard.includes(word);
    },
    forget: () => (heard = ""),
    hear,
    hasIpv6: tcp6 !== null,
    close: async () => {
      for (const socket of sockets) socket.close();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
