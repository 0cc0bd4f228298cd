// isolation-fix: gives advice, for `doctor` and for a run that can't start, on how to make an
// isolation level work here.

import { existsSync, readFileSync } from "node:fs";
import type { IsolationLevel } from "../../contracts/isolation-levels.ts";

/** Facts of the machine that decide which advice helps. */
export type MachineFacts = {
  readonly isLinux: boolean;
  readonly isContainer: boolean;
  /** By Ubuntu's rule that denies user namespaces to programs without an AppArmor profile. */
  readonly restrictsUserNamespaces: boolean;
  /** By Debian's older switch, or by a limit of zero. */
  readonly forbidsUserNamespaces: boolean;
};

/**
 * Programs that Anthropic's sandbox runtime consists of or needs; a failure names those that are
 * missing.
 */
const runtimeParts = ["srt", "socat", "rg", "ripgrep"];

/** What to do so that a level works, given what its self-test said. */
export function adviseLevelFix(
  level: IsolationLevel,
  failures: readonly string[],
  facts: MachineFacts = readMachineFacts(),
): string {
  const text = failures.join("; ");
  const missing =
    level === "srt" ? runtimeParts.filter((part) => new RegExp(`\\b${part}\\b`).test(text)) : [];
  if (missing.length > 0) {
    return "install Anthropic's sandbox runtime (npm install -g @anthropic-ai/sandbox-runtime@0.0.78 on Node 20), and on Linux bubblewrap, socat and ripgrep";
  }

  if (level === "landlock" && /perl|python/i.test(text)) {
    return "install perl or python3: one of them sets Landlock up";
  }

  if (!facts.isLinux && level !== "srt") return `${level} needs Linux`;
  if (text.includes("bwrap) is not installed")) {
    return "install bubblewrap: apt install bubblewrap (dnf, pacman, zypper and apk know it by the same name)";
  }

  if (text.includes("util-linux) is not installed")) {
    return "install util-linux (it holds unshare and mount)";
  }

  if (facts.restrictsUserNamespaces) {
    return "Ubuntu keeps namespaces from programs without an AppArmor profile: install the package apparmor-profiles and load the profile bwrap-userns-restrict, or run: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0";
  }

  if (facts.forbidsUserNamespaces) {
    return "this kernel gives users no namespaces: sudo sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000";
  }

  if (facts.isContainer) {
    return "a container needs the right to make namespaces: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, or with --cap-add SYS_ADMIN";
  }

  if (level === "overlay") {
    return "an overlay needs Linux 5.11 or newer and a run's folder on a disk that holds extended attributes (ext4, xfs, btrfs; no overlay, no network share)";
  }

  return "see what bubblewrap said; the next weaker means is taken meanwhile";
}

function readMachineFacts(): MachineFacts {
  return {
    isLinux: process.platform === "linux",
    isContainer: existsSync("/.dockerenv") || existsSync("/run/.containerenv"),
    restrictsUserNamespaces:
      readSetting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1",
    forbidsUserNamespaces:
      readSetting("/proc/sys/kernel/unprivileged_userns_clone") === "0" ||
      readSetting("/proc/sys/user/max_user_namespaces") === "0",
  };
}

function readSetting(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}
