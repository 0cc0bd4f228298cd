// landlock-program: the script that applies Landlock and the call filter and then execs the
// command, in interpreters that are already installed: nothing needs to be compiled.
//
// Arguments: the numbers of prctl and capset, network (on, off, egress), the egress's port, the
// filters in hex, the number of rules, each rule as rights and path, then the command.
//
// Invariants:
//   P1. Whatever fails, the command does not start: the script exits with 126 and prints a
//       sentence.
//   P2. Rights that this kernel's Landlock does not know are left out of the request, never the
//       whole request.

import { spawnSync } from "node:child_process";
import { findProgramOnPath } from "./program-paths.ts";

/** A language that the setup script is written in, and the command line that runs the script. */
export type Interpreter = { readonly program: string; readonly argv: readonly string[] };

/** Access rights below a path: the kernel's bits. */
export const landlockAccess = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readFolder: 1 << 3,
  makeDevices: (1 << 6) | (1 << 11),
  ioctl: 1 << 15,
} as const;
/** All sixteen rights. */
export const landlockAccessAll = 0xffff;

// Both scripts do the same. Their numbers are the kernel's: calls 444 to 446 create a set of rules,
// add one and apply the set; prctl 38 gives up new privileges, 22 installs a filter; the tables of
// 13 to 16 are how many rights each version of Landlock knows (P2); a path is opened by 0x280000
// (O_PATH, O_CLOEXEC), and one that is missing gets no rule; 0xc007 are the rights that a file can
// have.
const perl = `
use strict; use warnings;
sub fail { print STDERR "landlock: $_[0]: $!\\n"; exit 126 }
my ($prctl, $capset, $network, $port, $filter, $count) = splice @ARGV, 0, 6;
my $abi = syscall(444, 0, 0, 1);
fail("not in this kernel") if $abi < 1;
my @known = (0, 13, 14, 15, 15, 16);
my $all = (1 << $known[$abi > 5 ? 5 : $abi]) - 1;
my $net = ($abi >= 4 && $network ne "on") ? 3 : 0;
my $request = pack("QQQ", $all, $net, $abi >= 6 ? 3 : 0);
my $rules = syscall(444, $request, $abi >= 6 ? 24 : $abi >= 4 ? 16 : 8, 0);
fail("no set of rules") if $rules < 0;
for (1 .. $count) {
  my ($may, $path) = splice @ARGV, 0, 2;
  sysopen(my $place, $path, 0x280000) or next;
  $may &= $all;
  $may &= 0xc007 unless -d $path;
  my $rule = pack("Ql", $may, fileno $place);
  fail("no rule for $path") if syscall(445, $rules, 1, $rule, 0) != 0;
}
if ($net && $network eq "egress") {
  my $rule = pack("QQ", 2, $port);
  fail("no rule for the egress") if syscall(445, $rules, 2, $rule, 0) != 0;
}
$prctl += 0;
fail("privileges could not be given up") if syscall($prctl, 38, 1, 0, 0, 0) != 0;
fail("not in force") if syscall(446, $rules, 0) != 0;
my ($whose, $none) = (pack("Ll", 0x20080522, 0), "\\0" x 24);
fail("capabilities could not be given up") if syscall($capset + 0, $whose, $none) != 0;
for my $one (split /,/, $filter) {
  my $steps = pack("H*", $one);
  my $program = pack("S x6 P", length($steps) / 8, $steps);
  fail("no call filter") if syscall($prctl, 22, 2, $program, 0, 0) != 0;
}
exec { $ARGV[0] } @ARGV or fail("$ARGV[0] could not be started");
`;

const python = `
import ctypes, os, stat, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(*words):
    return libc.syscall(*[ctypes.c_long(w) if isinstance(w, int) else w for w in words])
def fail(what):
    sys.stderr.write("landlock: %s: %s\\n" % (what, os.strerror(ctypes.get_errno()))); sys.stderr.flush(); os._exit(126)
try:
    prctl, capset, network = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    port, filters, count, words = int(sys.argv[4]), sys.argv[5].split(","), int(sys.argv[6]), sys.argv[7:]
    abi = call(444, 0, 0, 1)
    if abi < 1: fail("not in this kernel")
    known = (1 << (0, 13, 14, 15, 15, 16)[min(abi, 5)]) - 1
    net = 3 if abi >= 4 and network != "on" else 0
    rules = call(444, struct.pack("=QQQ", known, net, 3 if abi >= 6 else 0), 24 if abi >= 6 else 16 if abi >= 4 else 8, 0)
    if rules < 0: fail("no set of rules")
    for at in range(count):
        may, path = int(words[2 * at]) & known, words[2 * at + 1]
        try: place = os.open(path, 0x280000)
        except OSError: continue
        if not stat.S_ISDIR(os.fstat(place).st_mode): may &= 0xc007
        if call(445, rules, 1, struct.pack("=Qi", may, place), 0) != 0: fail("no rule for " + path)
        os.close(place)
    if net and network == "egress" and call(445, rules, 2, struct.pack("=QQ", 2, port), 0) != 0: fail("no rule for the egress")
    if call(prctl, 38, 1, 0, 0, 0) != 0: fail("privileges could not be given up")
    if call(446, rules, 0) != 0: fail("not in force")
    if call(capset, struct.pack("=Li", 0x20080522, 0), bytes(24)) != 0: fail("capabilities could not be given up")
    for one in filters:
        steps = bytes.fromhex(one)
        kept = ctypes.create_string_buffer(steps, len(steps))
        program = struct.pack("=HxxxxxxQ", len(steps) // 8, ctypes.addressof(kept))
        if call(prctl, 22, 2, program, 0, 0) != 0: fail("no call filter")
    command = words[2 * count:]
    os.execvp(command[0], command)
except BaseException as error:
    sys.stderr.write("landlock: %s\\n" % error); sys.stderr.flush(); os._exit(126)
`;

const interpreters: readonly Interpreter[] = [
  { program: "perl", argv: ["perl", "-e", perl, "--"] },
  { program: "python3", argv: ["python3", "-I", "-S", "-c", python] },
];

/** The programs that a test of Landlock starts. */
export const interpreterPrograms: readonly string[] = interpreters.map(({ program }) => program);

const versionTimeoutMs = 5_000;
/** By interpreter: arguments by which it prints the kernel's Landlock version. */
const versionArguments: Readonly<Record<string, readonly string[]>> = {
  perl: ["-e", "print syscall(444, 0, 0, 1)"],
  python3: [
    "-I",
    "-S",
    "-c",
    "import ctypes; print(ctypes.CDLL(None).syscall(ctypes.c_long(444), None, ctypes.c_long(0), ctypes.c_long(1)))",
  ],
};

/**
 * The first installed interpreter, or null, and the kernel's Landlock version; zero if it has none.
 */
export function findLandlock(allowedPrograms: readonly string[] = interpreterPrograms): {
  readonly interpreter: Interpreter | null;
  readonly abi: number;
} {
  for (const { program, argv } of interpreters.filter((interpreter) =>
    allowedPrograms.includes(interpreter.program),
  )) {
    // By its full path: a folder that the command may write to could be on its PATH.
    const path = findProgramOnPath(program);
    if (path === null) continue;
    const interpreter = { program, argv: [path, ...argv.slice(1)] };
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" };

    const answer = spawnSync(path, [...(versionArguments[program] ?? [])], {
      env,
      encoding: "utf8",
      timeout: versionTimeoutMs,
    });
    if (answer.status === 0) {
      return { interpreter, abi: Math.max(0, Number(answer.stdout.trim()) || 0) };
    }
  }

  return { interpreter: null, abi: 0 };
}
