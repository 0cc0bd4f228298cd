// fs-native-extensions: types for the one function we use of fs-native-extensions: the kernel file
// lock.

/**
 * The one function we use of a package that ships no types: a kernel lock, freed with the
 * descriptor or the process.
 */
declare module "fs-native-extensions" {
  export function tryLock(fd: number, options?: { readonly shared?: boolean }): boolean;
}
