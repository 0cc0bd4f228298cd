// call-families: the system calls that change a disk, by what they do. A processor has some
// spellings of each and lacks others: where x86-64 has `rename`, arm64 has `renameat` alone. A
// fault is asked for by family, so that it strikes whichever is made.

export const families = {
  rename: ["rename", "renameat", "renameat2"],
  mkdir: ["mkdir", "mkdirat"],
  open: ["open", "openat", "openat2", "creat"],
  unlink: ["unlink", "unlinkat", "rmdir"],
  link: ["link", "linkat"],
  symlink: ["symlink", "symlinkat"],
  mknod: ["mknod", "mknodat"],
  write: ["write", "writev"],
  pwrite: ["pwrite64", "pwritev", "pwritev2"],
  sync: ["fdatasync", "fsync"],
  truncate: ["ftruncate", "truncate", "fallocate"],
  copy: ["copy_file_range", "sendfile"],
  chmod: ["fchmod", "chmod", "fchmodat", "fchmodat2"],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;

export type Family = keyof typeof families;

/** The family as strace takes it: a name with a question mark may be unknown on this processor. */
export const callsOf = (family: Family): string =>
  families[family].map((name) => `?${name}`).join(",");

/** Every call that changes the disk, as strace takes it. */
export const changingCalls = Object.keys(families)
  .map((family) => callsOf(family as Family))
  .join(",");

/**
 * The names of a processor's calls that belong to a family by their spelling: `rename` and
 * `renameat2` do, `renamed` does not.
 */
export function spellingsIn(family: Family, names: readonly string[]): readonly string[] {
  const stem =
    { pwrite: "pwrite", sync: "f(?:data)?sync", copy: "(?:copy_file_range|sendfile)" }[
      family as string
    ] ?? `[fl]?${family}`;

  const spelling = new RegExp(`^${stem}(?:at)?v?\\d*$`);
  return names.filter((name) => spelling.test(name));
}
