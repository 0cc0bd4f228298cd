// protected-parts: the type of the protected parts of a file, if the rest of it may be changed.

/**
 * The protected parts of a file, by name: `scripts.test`, `target check`. Their text is normalised,
 * so that equal texts mean the same.
 */
export type ProtectedParts = Readonly<Record<string, string>>;

export const squeezeSpace = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
