// postgres: a PostgreSQL of the test's own: a cluster in a temporary folder, reached by a socket
// there and by nothing else. The server refuses to run as root, so root starts it as the user
// `postgres` or `nobody`.

import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The folder of the server's programs; null if there is none. Debian keeps them beside the path,
 * one folder a version.
 */
export function findPostgres(): string | null {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const found = [
    ...versions.map((version) => join(root, version, "bin")),
    ...(process.env["PATH"] ?? "").split(":"),
  ];

  return (
    found.find(
      (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "pg_ctl")),
    ) ?? null
  );
}

export const postgresBin = findPostgres();
/** For a suite's title, so that a machine without the server says what it did not test. */
export const withoutPostgres =
  postgresBin === null ? " (skipped: no PostgreSQL server is installed)" : "";

export type Cluster = {
  /** The address of a database, made empty; as this user. */
  readonly database: (name: string, user?: string) => string;
  readonly sql: (database: string, text: string) => string;
  /**
   * kill -9 of the postmaster and of everything it started, as a power cut of its machine would.
   */
  readonly crash: () => void;
  readonly start: () => void;
  readonly stop: () => void;
  readonly socket: string;
  /** Dumps the store of a database; gives what restores it into another. */
  readonly dump: (database: string) => (into: string) => void;
};

/**
 * In memory where there is room: stories of stores are about processes that end, and should not
 * wait for a disk that others keep busy.
 */
function clusterFolder(isOnDisk: boolean): string {
  if (isOnDisk) return mkdtempSync(join(tmpdir(), "autopilot-pg-"));
  const [memory, roomBytes] = ["/dev/shm", 2 * 2 ** 30];
  const free = existsSync(memory) ? statfsSync(memory) : { bavail: 0, bsize: 0 };

  return mkdtempSync(
    join(free.bavail * free.bsize > roomBytes ? memory : tmpdir(), "autopilot-pg-"),
  );
}

/**
 * A cluster as it is made, kept for a run of the suite: a copy takes a twentieth of what making
 * another does.
 */
const newCluster = join(tmpdir(), `autopilot-test-cluster-${process.ppid}`);

function keepNewCluster(data: string): void {
  const draft = `${newCluster}.${process.pid}`;
  execFileSync("cp", ["-a", data, draft]);

  try {
    renameSync(draft, newCluster);
  } catch {
    rmSync(draft, { recursive: true, force: true }); // another worker of the suite was first
  }
}

export type Reach = {
  /**
   * Words before a command that have the server run elsewhere: in another network namespace, say.
   */
  readonly within: readonly string[];
  /** Who may ask it over TCP, beside whoever reaches its socket; null: nobody. */
  readonly subnet: string | null;
};

/** On disk for whoever measures: in memory a commit costs nothing. */
export function startCluster(
  settings: readonly string[] = [],
  isOnDisk = false,
  reach: Reach = { within: [], subnet: null },
): Cluster {
  if (postgresBin === null) throw new Error("no PostgreSQL server is installed");
  const bin = postgresBin;
  const folder = clusterFolder(isOnDisk);
  const data = join(folder, "data");
  const user = process.getuid?.() === 0 ? unprivileged() : null;
  if (user !== null) chownSync(folder, user.uid, user.gid);

  const as = (program: string, args: readonly string[]): string => {
    const command = [join(bin, program), ...args];
    const asUser =
      user === null
        ? []
        : ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
    const [first = "", ...rest] = [...reach.within, ...asUser, ...command];

    return execFileSync(first, rest, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      cwd: folder,
    });
  };

  if (!existsSync(newCluster)) {
    as("initdb", ["-D", data, "-N", "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C"]);
    keepNewCluster(data);
  } else {
    execFileSync("cp", ["-a", newCluster, data]);
  } // with its owner

  if (reach.subnet !== null) {
    appendFileSync(join(data, "pg_hba.conf"), `host all all ${reach.subnet} trust\n`);
  }

  const listens = reach.subnet === null ? "listen_addresses=''" : "listen_addresses='*'";
  const given = [
    listens,
    `unix_socket_directories='${folder}'`,
    "max_connections=60",
    "shared_buffers=16MB",
    ...settings,
  ];

  const start = (): void => {
    as("pg_ctl", [
      "-D",
      data,
      "-w",
      "-s",
      "-l",
      join(folder, "log"),
      "-o",
      given.map((one) => `-c ${one}`).join(" "),
      "start",
    ]);
  };

  const sql = (database: string, text: string): string =>
    as("psql", [
      "-h",
      folder,
      "-U",
      "owner",
      "-d",
      database,
      "-v",
      "ON_ERROR_STOP=1",
      "-AtXqc",
      text,
    ]).trim();

  start();
  return {
    socket: folder,
    sql,
    start,
    dump: (database) => {
      const file = join(folder, `${database}.sql`);
      as("pg_dump", ["-h", folder, "-U", "owner", "-n", "autopilot", "-f", file, database]);
      return (into) =>
        void as("psql", [
          "-h",
          folder,
          "-U",
          "owner",
          "-d",
          into,
          "-v",
          "ON_ERROR_STOP=1",
          "-Xqf",
          file,
        ]);
    },
    database: (name, role = "owner") => {
      if (sql("postgres", `select count(*) from pg_database where datname = '${name}'`) === "0") {
        sql("postgres", `create database "${name}"`);
      }

      return `postgres://${role}@/${name}?host=${encodeURIComponent(folder)}`;
    },
    crash: () => {
      const [pid = ""] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
      const children = spawnSync("ps", ["-o", "pid=", "--ppid", pid], { encoding: "utf8" })
        .stdout.split("\n")
        .map((line) => line.trim());
      for (const one of [pid, ...children].filter((line) => /^\d+$/.test(line))) {
        try {
          process.kill(Number(one), "SIGKILL");
        } catch {
          // It went with its parent.
        }
      }
    },
    stop: () => {
      try {
        as("pg_ctl", ["-D", data, "-s", "-m", "immediate", "stop"]);
      } catch {
        // It is down already.
      }

      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function unprivileged(): { readonly uid: number; readonly gid: number } {
  for (const name of ["postgres", "nobody"]) {
    const { stdout, status } = spawnSync("id", ["-u", name], { encoding: "utf8" });
    if (status === 0) {
      return {
        uid: Number(stdout),
        gid: Number(spawnSync("id", ["-g", name], { encoding: "utf8" }).stdout),
      };
    }
  }

  throw new Error("there is no user besides root to start PostgreSQL as");
}
