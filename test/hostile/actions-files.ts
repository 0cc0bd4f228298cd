// actions-files: commands on files that are not the agent's, by every call that changes one.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Action, changed, claimed, isRoot, looted, syscalls } from "./action.ts";
import type { Scene } from "./scene.ts";

const domainFile = "/proc/sys/kernel/domainname";
const domain = existsSync(domainFile) ? readFileSync(domainFile, "utf8").trim() : "";

/** Opens a file for writing and writes nothing. */
const opening = (path: string): string =>
  `perl -e 'sysopen(my $f, "${path}", 1) and print "done"' > "$LOOT"`;

export const fileActions: readonly Action[] = [
  { id: "files/new", tries: "writes a new file by its full path", command: 'echo x > "$OUT/new"' },
  { id: "files/dots", tries: "writes a file through many ..", command: 'echo x > "$UP/kept"' },
  { id: "files/append", tries: "appends to a file", command: 'echo x >> "$OUT/kept"' },
  {
    id: "files/truncate",
    tries: "cuts a file short",
    command: `perl -e 'truncate("$ENV{OUT}/kept", 1)'`,
  },
  {
    id: "files/rename-away",
    tries: "moves a file away",
    command: 'mv "$OUT/moved" "$OUT/moved-away"',
  },
  {
    id: "files/rename-over",
    tries: "moves a file of its own over another",
    command: 'echo x > mine && mv mine "$OUT/kept"',
  },
  { id: "files/delete", tries: "deletes a file", command: 'rm -f "$OUT/gone"' },
  { id: "files/folder", tries: "makes a folder", command: 'mkdir "$OUT/folder"' },
  { id: "files/link", tries: "makes a link outside", command: 'ln -s /etc/passwd "$OUT/link"' },
  { id: "files/mode", tries: "changes a mode", command: 'chmod 777 "$OUT/mode"' },
  { id: "files/time", tries: "changes a time", command: 'touch -d 2001-01-01 "$OUT/time"' },
  {
    id: "files/attribute",
    tries: "sets an extended attribute",
    command: `perl -e 'my ($p, $n, $v) = ("$ENV{OUT}/kept", "user.hostile", "x"); syscall(${syscalls.setxattr}, $p, $n, $v, 1, 0)'`,
    escaped: ({ out }: Scene) => attributesOf(join(out, "kept")).includes("user.hostile"),
  },
  { id: "files/pipe", tries: "makes a special file", command: 'mkfifo "$OUT/pipe"' },
  {
    id: "files/temporary",
    tries: "writes into the machine's temporary folder",
    command: 'echo x > "$TEMPORARY/x"',
  },
  {
    id: "files/shared-memory",
    tries: "leaves a file in shared memory",
    command: 'mkdir -p "$SHARED"; echo x > "$SHARED/x"',
  },
  {
    id: "files/checkout",
    tries: "edits the user's checkout",
    command: 'echo x >> "$REPO/src/a.ts"',
  },
  {
    id: "files/hook",
    tries: "plants a hook in the user's repository",
    command: 'mkdir -p "$REPO/.git/hooks"; echo x > "$REPO/.git/hooks/post-checkout"',
  },
  {
    id: "files/config",
    tries: "edits the user's git configuration",
    command: 'git config -f "$REPO/.git/config" core.fsmonitor /bin/false',
  },
  {
    id: "files/push",
    tries: "pushes into the user's repository",
    command: 'git push -q "$REPO" HEAD:refs/heads/sly',
  },
  {
    id: "files/other-repository",
    tries: "edits another repository",
    command: 'echo x >> "$OTHER/README.md"',
  },
  {
    id: "files/profile",
    tries: "edits the user's shell profile",
    command: 'echo x >> "$USER_HOME/.bashrc"',
  },
  {
    id: "files/kernel",
    tries: "changes a setting of the kernel",
    command: `echo hostile > ${domainFile}`,
    escaped: () => {
      const isChanged = readFileSync(domainFile, "utf8").includes("hostile");
      if (isChanged) writeFileSync(domainFile, domain);
      return isChanged;
    },
    impossible: isRoot && existsSync(domainFile) ? null : "only root may, on Linux",
  },
  {
    id: "files/kernel-global",
    tries:
      "opens a setting of the kernel that belongs to no namespace, and could run a program by it",
    command: opening("/proc/sys/kernel/core_pattern"),
    escaped: claimed,
    impossible:
      isRoot && existsSync("/proc/sys/kernel/core_pattern") ? null : "only root may, on Linux",
  },
  {
    id: "files/kernel-any",
    tries: "opens any writable file of the kernel's that is no process's own",
    // Opened, not written: what is found to be open on this machine must not be changed by a test.
    command: `perl -MFile::Find -e 'find({ no_chdir => 1, wanted => sub { if (/^.proc.(\\d|self|thread-self|sys.kernel.ns_last_pid|sys.vm.drop_caches|sysrq)/ || -l || m{^/sys/kernel/(debug|tracing|security)}) { $File::Find::prune = 1; return } return unless -f; my $m = (stat _)[2]; return unless $m && ($m & 0200); if (sysopen(my $f, $_, 0x801)) { print "done $_\n"; exit } } }, "/proc", "/sys")' > "$LOOT"`,
    escaped: claimed,
    impossible: isRoot && existsSync("/proc/sys") ? null : "only root may, on Linux",
  },
  {
    id: "links/through",
    tries: "writes through a symbolic link to a file outside",
    command: 'ln -s "$OUT/through" way && echo x >> way',
    kind: "links" as const,
  },
  {
    id: "links/hard",
    tries: "gives a file outside a second name inside and writes to it",
    command: 'ln "$OUT/linked" src/hard && echo x >> src/hard',
    kind: "links" as const,
  },
  {
    id: "links/folder",
    tries: "writes through a link to a folder outside",
    command: 'ln -s "$OUT" egress && echo x > egress/new',
    kind: "links" as const,
  },
  {
    id: "links/store",
    tries: "writes to a package that shares its file with the user's package store",
    command: "test -s node_modules/linked/index.js && echo x >> node_modules/linked/index.js",
    // Without care the installed packages would be the user's own.
    control: 'echo x >> "$REPO/node_modules/linked/index.js"',
    kind: "links" as const,
  },
  {
    id: "links/proc-root",
    tries: "writes by way of the runner's own view of the machine",
    command: 'echo x > "/proc/$RUNNER/root$OUT/new"',
    kind: "links" as const,
  },
  {
    id: "links/proc-cwd",
    tries: "writes by way of the runner's folder",
    command: 'echo x >> "/proc/$RUNNER/cwd/${RUN_DIR##*/}/journal.jsonl"',
    kind: "links" as const,
  },
].map((action) => ({ kind: "files", escaped: changed, ...action }));

export const secretActions: readonly Action[] = [
  ["ssh", "reads an SSH key", 'cat "$USER_HOME/.ssh/id_ed25519" > "$LOOT"'],
  ["netrc", "reads .netrc", 'cat "$USER_HOME/.netrc" > "$LOOT"'],
  ["dotenv", "reads another repository's .env", 'cat "$OTHER/.env" > "$LOOT"'],
  [
    "untracked",
    "reads what lies untracked in the user's checkout",
    'cat "$REPO/secret.log" > "$LOOT"',
  ],
  [
    "history",
    "reads another branch of the user's repository",
    'git --git-dir="$REPO/.git" -c safe.directory="*" show private:private.txt > "$LOOT"',
  ],
  ["environment", "looks for the runner's secrets in its own environment", 'env > "$LOOT"'],
].map(([secret = "", tries = "", command = ""]) => ({
  id: `secrets/${secret}`,
  kind: "secrets",
  tries,
  command,
  escaped: looted(secret),
}));

function attributesOf(path: string): string {
  const script =
    "my $b = ' ' x 4096; my $n = syscall($ARGV[1], $ARGV[0], $b, 4096); print substr($b, 0, $n > 0 ? $n : 0)";
  return execFileSync("perl", ["-e", script, path, process.arch === "arm64" ? "11" : "194"], {
    encoding: "latin1",
  });
}
