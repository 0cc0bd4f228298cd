import { expect, test } from "vitest";
import { adviseLevelFix, type MachineFacts } from "./isolation-fix.ts";

const plain: MachineFacts = {
  isLinux: true,
  isContainer: false,
  restrictsUserNamespaces: false,
  forbidsUserNamespaces: false,
};

test.each([
  [
    "bubblewrap is missing",
    "bwrap",
    "bubblewrap (bwrap) is not installed",
    {},
    "apt install bubblewrap",
  ],
  [
    "util-linux is missing",
    "overlay",
    "mount (util-linux) is not installed",
    {},
    "install util-linux",
  ],
  [
    "Ubuntu restricts namespaces",
    "bwrap",
    "setting up uid map: Permission denied",
    { restrictsUserNamespaces: true },
    "kernel.apparmor_restrict_unprivileged_userns=0",
  ],
  [
    "the kernel gives none",
    "bwrap",
    "No permissions to create new namespace",
    { forbidsUserNamespaces: true },
    "user.max_user_namespaces",
  ],
  [
    "a container may not make them",
    "bwrap",
    "Operation not permitted",
    { isContainer: true },
    "--cap-add SYS_ADMIN",
  ],
  ["the runtime is missing", "srt", "rg is not installed", {}, "sandbox-runtime"],
  [
    "a word of the failure only looks like ripgrep",
    "srt",
    "bwrap: Invalid argument",
    { isContainer: true },
    "--cap-add SYS_ADMIN",
  ],
  ["the disk is unfit for an overlay", "overlay", "mount: wrong fs type", {}, "Linux 5.11"],
  ["it is no Linux", "bwrap", "", { isLinux: false }, "needs Linux"],
] as const)("where %s, doctor says what to do", (_when, level, said, facts, words) => {
  expect(adviseLevelFix(level, [said], { ...plain, ...facts })).toContain(words);
});
