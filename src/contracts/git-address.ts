// git-address: which addresses git may be given, and which may be written down. HubAddress is the
// schema of one that a journal keeps.

import * as v from "valibot";

/**
 * Whether git may be given an address: a path, https, ssh or file. Other transports (`ext::sh …`)
 * and options would start programs.
 */
export const isGitAddress = (address: string): boolean =>
  !address.startsWith("-") && /^(\/|(https|ssh|file):\/\/|[\w.-]+@[\w.-]+:)\S+$/.test(address);
/**
 * Whether an address has a password or key in it (`https://user:key@host/…`): many people can read
 * the journal.
 */
export const holdsPassword = (address: string): boolean =>
  /^(https:\/\/[^/@]*|\w+:\/\/[^/@]*:[^/@]*)@/.test(address);

/** Where machines exchange the commits of a repository, and where finished work lands. */
export const HubAddress = v.pipe(
  v.string(),
  v.maxLength(1_000),
  v.check(
    (address) => isGitAddress(address) && !holdsPassword(address),
    "an address of git without a password",
  ),
);
