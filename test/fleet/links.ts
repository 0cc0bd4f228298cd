// links: how the machines of a campaign reach their database, their hub and their model, and how
// those ways fail. Each machine is a network namespace with a link of its own where this machine
// lets us make them; else its way to the database is a proxy (way.ts), and loss is not played.

import { spawn, spawnSync, execFileSync, type ChildProcess } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratchFolder } from "../support/scratch-repository.ts";
import { openWay } from "./way.ts";

export type Link = {
  /** Words before a command that have it run on this machine. */
  readonly on: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Nothing that this machine asks arrives, or nothing that it is answered. */
  readonly lose: (what: { readonly questions: boolean; readonly answers: boolean }) => void;
  /** Connections that are there hear nothing more; new ones come through. */
  readonly forgetOld: () => void;
  readonly reset: () => void;
  readonly slow: () => void;
  /** A third of the packets is lost; null where links are proxies. */
  readonly loseSome: (() => void) | null;
  readonly cutHub: () => void;
  /** Nobody listens there: said at once. */
  readonly stopHub: () => void;
  readonly heal: () => void;
  readonly close: () => void;
};

export type Links = {
  /** Words before a command that have it run where the database and the hub are. */
  readonly server: readonly string[];
  /** Who may ask the database, beside whoever reaches its socket. */
  readonly subnet: string | null;
  readonly open: (name: string, socket: string, hub: string, database?: string) => Link;
  readonly close: () => void;
};

export const ports = { database: 5432, hub: 9418, model: 8080 };
const lossPercent = 33;

const isDone = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: "ignore" }).status === 0;

/** Why machines can't be network namespaces here; null if they can. */
export function namespacesMissing(): string | null {
  if (process.getuid?.() !== 0) return "not root";
  for (const [program, ...args] of [
    ["ip", "-V"],
    ["nft", "-v"],
    ["tc", "-V"],
    ["socat", "-V"],
    ["unshare", "-V"],
  ] as const) {
    if (!isDone(program, ...args)) return `${program} is not installed`;
  }

  const probe = `apprb${process.pid}`;
  try {
    if (!isDone("ip", "netns", "add", probe)) return "network namespaces can't be made";
    return isDone("ip", "netns", "exec", probe, "nft", "add", "table", "inet", "probe")
      ? null
      : "nftables is not in this kernel";
  } finally {
    spawnSync("ip", ["netns", "del", probe], { stdio: "ignore" });
  }
}

/** The server in a namespace, and a cable from it to each machine's. */
export function openNamespaces(machines: readonly string[]): Links {
  const made: string[] = [];
  const ip = (...args: readonly string[]): void =>
    void execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });

  const add = (name: string): string => {
    const space = `ap${process.pid}${name}`;
    ip("netns", "add", space);
    made.push(space);
    ip("-n", space, "link", "set", "lo", "up");

    return space;
  };
  const server = add("server");

  const spaces = new Map(
    machines.map((name, at) => {
      const space = add(name);
      const far = `far${at}`;
      ip(
        "link",
        "add",
        far,
        "netns",
        server,
        "type",
        "veth",
        "peer",
        "name",
        "near",
        "netns",
        space,
      );

      ip("-n", server, "addr", "add", `10.77.${at}.1/24`, "dev", far);
      ip("-n", server, "link", "set", far, "up");
      ip("-n", space, "addr", "add", `10.77.${at}.2/24`, "dev", "near");
      ip("-n", space, "link", "set", "near", "up");

      return [name, { space, far, address: `10.77.${at}.1` }];
    }),
  );

  const daemons: ChildProcess[] = [];
  return {
    server: ["ip", "netns", "exec", server],
    subnet: "10.77.0.0/16",
    open: (name, _socket, hub, database = "fleet") => {
      const found = spaces.get(name);
      if (found === undefined) throw new Error(`no machine ${name}`);
      if (daemons.length === 0) daemons.push(serveHub(server, hub));

      return namespaceLink(name, { ...found, server }, database);
    },
    close: () => {
      // With whoever still serves a connection that was forgotten.
      for (const { pid } of daemons) if (pid !== undefined) process.kill(-pid, "SIGKILL");
      for (const space of made) spawnSync("ip", ["netns", "del", space], { stdio: "ignore" });
    },
  };
}

/** Started by its own name: `git daemon` would be a parent that is killed and leaves it. */
const serveHub = (server: string, hub: string): ChildProcess => {
  const daemon = join(
    execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(),
    "git-daemon",
  );

  const options = [
    "--reuseaddr",
    "--export-all",
    "--enable=receive-pack",
    `--port=${ports.hub}`,
    `--base-path=${hub}`,
  ];
  return spawn("ip", ["netns", "exec", server, daemon, ...options], {
    stdio: "ignore",
    detached: true,
  });
};

/**
 * One address for all machines, as a portfolio's journal has it; each machine's own git knows its
 * way there.
 */
const everywhere = "ssh://git@hub.example/";
function writeGitConfig(home: string, here: string, address: string, more = ""): string {
  const path = join(home, "gitconfig");
  mkdirSync(home, { recursive: true });
  writeFileSync(path, `[url "${here}"]\n\tinsteadOf = ${address}\n${more}`);

  return path;
}

type Space = {
  readonly space: string;
  readonly far: string;
  readonly address: string;
  readonly server: string;
};

function namespaceLink(
  name: string,
  { space, far, address, server }: Space,
  database: string,
): Link {
  const home = scratchFolder();
  mkdirSync(home, { recursive: true });
  // ssh, as far as git asks for it: what it says goes to the hub's daemon, over this machine's
  // link.
  const ssh = join(home, "ssh");
  writeFileSync(
    ssh,
    `#!/bin/sh
host=\${1#*@} service=\${2%% *}
{ printf '%04x%s /\\0host=%s\\0' $((4 + \${#service} + 2 + 1 + 5 + \${#host} + 1)) "$service" "$host"; cat; } | { socat -t 60 - "TCP:$host:${ports.hub}" || kill $$; }
`,
    { mode: 0o755 },
  );

  const gitConfig = writeGitConfig(
    home,
    `ssh://git@${address}/`,
    everywhere,
    `[core]\n\tsshCommand = ${ssh}\n[ssh]\n\tvariant = simple\n`,
  );

  let rules: Rules = healthy();
  let old: readonly number[] = [];
  let isSlow = false;

  const within = (input: string, ...words: readonly string[]): string =>
    execFileSync("ip", ["netns", "exec", space, ...words], {
      input,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
    });

  /**
   * All of the rules at once. What a machine sends is dropped on its way out, what it is sent on
   * its way in: neither side is told.
   */
  const apply = (): void => {
    const known = `{ ${ports.database}, ${ports.hub} }`;
    const [asked, answered]: [string[], string[]] = [[], []];
    if (rules.questions) asked.push(`tcp dport ${known} drop`);
    if (rules.answers) answered.push(`tcp sport ${known} drop`);
    if (rules.isReset) asked.push(`tcp dport ${known} reject with tcp reset`);
    if (rules.hub) asked.push(`tcp dport ${ports.hub} drop`);
    if (rules.isHubDown) asked.push(`tcp dport ${ports.hub} reject with tcp reset`);
    if (rules.some) {
      asked.push(`tcp dport ${known} numgen random mod 100 < ${lossPercent} drop`);
      answered.push(`tcp sport ${known} numgen random mod 100 < ${lossPercent} drop`);
    }

    if (old.length > 0) {
      asked.push(`tcp sport { ${old.join(", ")} } drop`);
      answered.push(`tcp dport { ${old.join(", ")} } drop`);
    }

    const chain = (hook: string, lines: readonly string[]): string =>
      `chain ${hook} {\n type filter hook ${hook} priority 0;\n ${lines.join("\n ")}\n }`;
    within(
      `flush ruleset\ntable inet nemesis {\n ${chain("input", answered)}\n ${chain("output", asked)}\n}\n`,
      "nft",
      "-f",
      "-",
    );
  };

  /**
   * With netem packets are late; a kernel without it has a link that is too narrow for what goes
   * over it, which is late and loses some.
   */
  const slowed = (on: boolean): void => {
    if (on === isSlow) return;
    isSlow = on;

    for (const [where, device] of [
      [space, "near"],
      [server, far],
    ] as const) {
      const tc = (...words: readonly string[]): boolean =>
        isDone("tc", "-n", where, "qdisc", ...words);
      if (!on) {
        tc("del", "dev", device, "root");
      } else if (
        !tc("add", "dev", device, "root", "netem", "delay", "150ms", "50ms") &&
        !tc(
          "add",
          "dev",
          device,
          "root",
          "tbf",
          "rate",
          "200kbit",
          "burst",
          "3kb",
          "latency",
          "400ms",
        )
      ) {
        throw new Error("this kernel can't make a link slow");
      }
    }
  };

  const change = (some: Partial<typeof rules>): void => {
    rules = { ...rules, ...some };
    apply();
  };

  return {
    // A host name of its own, as leases show it.
    on: [
      "ip",
      "netns",
      "exec",
      space,
      "unshare",
      "--uts",
      "sh",
      "-c",
      'hostname "$0" && exec "$@"',
      name,
    ],
    env: {
      AUTOPILOT_STORE: `postgres://owner@${address}:${ports.database}/${database}`,
      AUTOPILOT_HUB: `${everywhere}hub.git`,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${ports.model}`,
      GIT_CONFIG_GLOBAL: gitConfig,
    },
    lose: change,
    forgetOld: () => {
      old = within("", "cat", "/proc/net/tcp")
        .split("\n")
        .flatMap((line) => {
          const [, local = "", remote = "", state] = line.trim().split(/\s+/);
          const [, port = ""] = local.split(":");
          const far = Number.parseInt(remote.split(":")[1] ?? "", 16);

          return state === "01" && (far === ports.database || far === ports.hub)
            ? [Number.parseInt(port, 16)]
            : [];
        });

      apply();
    },
    reset: () => change({ isReset: true }),
    slow: () => slowed(true),
    loseSome: () => change({ some: true }),
    cutHub: () => change({ hub: true }),
    stopHub: () => change({ isHubDown: true }),
    heal: () => {
      slowed(false);
      change(healthy());
    },
    close: () => undefined,
  };
}

type Rules = {
  questions: boolean;
  answers: boolean;
  some: boolean;
  hub: boolean;
  isHubDown: boolean;
  isReset: boolean;
};

const healthy = (): Rules => ({
  questions: false,
  answers: false,
  some: false,
  hub: false,
  isHubDown: false,
  isReset: false,
});

/** Without namespaces: a proxy before the database's socket, and a hub that is moved away. */
export const proxies: Links = {
  server: [],
  subnet: null,
  open: (_name, socket, hub, database = "fleet") => {
    const way = openWay(socket);
    const hubLink = join(scratchFolder(), "hub.git");
    symlinkSync(hub, hubLink);
    let isAway = false;
    const cutHub = (): void => {
      isAway = true;
      renameSync(hubLink, `${hubLink}.away`);
    };

    return {
      on: [],
      env: {
        AUTOPILOT_STORE: `postgres://owner@/${database}?host=${encodeURIComponent(way.folder)}`,
        AUTOPILOT_HUB: hub,
        GIT_CONFIG_GLOBAL: writeGitConfig(scratchFolder(), hubLink, hub),
      },
      lose: ({ questions, answers }) =>
        void Object.assign(way, { isUpCut: questions, isDownCut: answers }),
      forgetOld: way.forgetOld,
      reset: way.reset,
      slow: () => void (way.delayMs = 150),
      loseSome: null,
      cutHub,
      stopHub: cutHub,
      heal: () => {
        way.heal();
        if (isAway) renameSync(`${hubLink}.away`, hubLink);
        isAway = false;
      },
      close: way.close,
    };
  },
  close: () => undefined,
};
