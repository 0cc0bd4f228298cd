// peer-process: finds out whether a request comes from a process inside a run, by looking up its
// socket in the kernel's tables and then the process that owns it. A browser is outside; an agent
// that found the token and the port is inside. It is one more barrier, where the system shows
// sockets (Linux).

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isBelowRun } from "../../project/inside-run.ts";

/**
 * The process at the other end of a connection on loopback; null if the system does not show it.
 */
export function findPeerPid(remotePort: number, localPort: number): number | null {
  const inode = findSocketInode(remotePort, localPort);
  if (inode === null) return null;
  const socketLink = `socket:[${inode}]`;

  for (const pid of readNames("/proc").filter((name) => /^\d+$/.test(name))) {
    const folder = `/proc/${pid}/fd`;
    if (readNames(folder).some((fd) => readLink(`${folder}/${fd}`) === socketLink)) {
      return Number(pid);
    }
  }

  return null;
}

/**
 * Whether the process at the other end, or one of its parents, was started by an agent of a run.
 */
export function isFromRun(remotePort: number | undefined, localPort: number): boolean {
  const pid = remotePort === undefined ? null : findPeerPid(remotePort, localPort);
  return pid !== null && pid !== process.pid && isBelowRun({ env: {} }, pid);
}

/**
 * The inode of the client's socket: in the client's row of the table, its own port is the local
 * one. Ports are in hex: `0100007F:1012`.
 */
function findSocketInode(remotePort: number, localPort: number): string | null {
  const [from, to] = [portSuffix(remotePort), portSuffix(localPort)];
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readText(table).split("\n").slice(1)) {
      const [, local = "", remote = "", , , , , , , inode = "0"] = line.trim().split(/\s+/);
      if (local.endsWith(from) && remote.endsWith(to) && inode !== "0") return inode;
    }
  }

  return null;
}

/** 4114 → `:1012` */
const portSuffix = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, "0")}`;

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // another user's, or gone meanwhile
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
