// ids: the names of projects, tasks and blocks. Once made they never change.

const slugCharactersMax = 40;
/** Crockford's base 32: no I, L, O or U to mistake. */
const letters = "0123456789abcdefghjkmnpqrstvwxyz";
const shortIdLetters = 6;

/** Lower case, `-` between words, at most 40 characters; `x` if nothing of the name is left. */
export function slugOf(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, slugCharactersMax)
    .replace(/-+$/, "");
  return plain === "" ? "x" : plain;
}

/** Two names may come to one slug; the later one gets a number. */
export function projectIdOf(name: string, isTaken: (id: string) => boolean): string {
  const slug = slugOf(name);
  for (let n = 1; ; n++) {
    const end = n === 1 ? "" : `-${n}`;
    const id = `proj-${slug.slice(0, slugCharactersMax - end.length)}${end}`;
    if (!isTaken(id)) return id;
  }
}

export const taskIdOf = (objective: string, bytes: Uint8Array): string => `task-${slugOf(objective)}-${shortIdOf(bytes)}`;

/** `ts` is an ISO time in UTC. */
export const blockIdOf = (ts: string, bytes: Uint8Array): string => `block-${ts.slice(0, 19).replace(/[-:]/g, "")}Z-${shortIdOf(bytes)}`;

export const shortIdOf = (bytes: Uint8Array): string =>
  Array.from({ length: shortIdLetters }, (_, index) => letters[(bytes[index] ?? 0) & 31] ?? "0").join("");
