// ids: creates the ids of projects, tasks and blocks. An id never changes.

const slugCharsMax = 40;
/** Crockford's base 32: no I, L, O or U to mistake. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const shortIdChars = 6;

/** Lower case, `-` between words, at most 40 characters; `x` if nothing of the name is left. */
export function toSlug(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, slugCharsMax)
    .replace(/-+$/, "");
  return plain === "" ? "x" : plain;
}

/** Two names may have the same slug; the later one gets a number. */
export function createProjectId(name: string, isTaken: (id: string) => boolean): string {
  const slug = toSlug(name);
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? "" : `-${number}`;
    const id = `proj-${slug.slice(0, slugCharsMax - suffix.length)}${suffix}`;
    if (!isTaken(id)) return id;
  }
}

/** Such as `task-fix-login-k3x9qa`; the bytes are random. */
export const createTaskId = (objective: string, bytes: Uint8Array): string =>
  `task-${toSlug(objective)}-${createShortId(bytes)}`;

/** Such as `block-20260101T120000Z-k3x9qa`; `ts` is an ISO time in UTC. */
export const createBlockId = (ts: string, bytes: Uint8Array): string =>
  `block-${ts.slice(0, 19).replace(/[-:]/g, "")}Z-${createShortId(bytes)}`;

export const createShortId = (bytes: Uint8Array): string =>
  Array.from(
    { length: shortIdChars },
    (_, index) => alphabet[(bytes[index] ?? 0) & 31] ?? "0",
  ).join("");
