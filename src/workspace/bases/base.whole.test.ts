// Bases: made once, whole or not at all, by however many makers; found damaged and made again;
// refused in a folder of somebody else's.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { aFew } from "../../../test/support/sampled.ts";
import { openBase, type Base, type BaseSource } from "./base.ts";
import { evict, openStore, type Store } from "./store.ts";
import { isIntact } from "./sealed-folder.ts";
import { OpenBases } from "../checkouts/open-bases.ts";
import type { Shadow } from "../git/shadow.ts";
import { findStoreFolder } from "./store-folder.ts";

let room = "";
let store: Store;
const opened: Base[] = [];
const madeIn = realpathSync(mkdtempSync(join(tmpdir(), "bases-")));
afterAll(() => rmSync(madeIn, { recursive: true, force: true }));
beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), "bases-"));
  store = openStore(join(room, "store"), { recheckMs: 0 });
});
afterEach(() => {
  for (const base of opened.splice(0)) base.lease.release();
  rmSync(room, { recursive: true, force: true });
});

const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
    cwd: join(room, "repo"),
    encoding: "utf8",
  }).trim();

function treeOf(files: Readonly<Record<string, string>>): BaseSource {
  const root = join(room, "repo");
  mkdirSync(root, { recursive: true });
  if (!existsSync(join(root, ".git"))) git("init", "-q");
  git("rm", "-rfq", "--ignore-unmatch", ".");

  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  git("add", "-A");
  return {
    call: { cwd: root, isOwn: true, env: { GIT_DIR: join(root, ".git") } },
    format: "sha1",
    tree: git("write-tree"),
  };
}

async function open(source: BaseSource, from: Store = store): Promise<Base> {
  const base = await openBase(from, source);
  opened.push(base);
  return base;
}
/** The same tree in a repository of its own, for who changes nothing in it. */
let made: BaseSource | null = null;
function usualTree(): BaseSource {
  if (made !== null) return made;
  const kept = join(madeIn, "git");
  const { call, ...rest } = treeOf(usual);
  cpSync(join(room, "repo/.git"), kept, { recursive: true });

  return (made = { ...rest, call: { ...call, cwd: madeIn, env: { GIT_DIR: kept } } });
}
const usual = { "a.txt": "one\n", "b/c.txt": "two\n", "b/d/e.txt": "three\n" };
const textIn = (base: Base, path: string): string => readFileSync(join(base.files, path), "utf8");
const kept = (): string[] => readdirSync(join(store.folder, "bases"));
const rubbish = (): string[] =>
  ["drafts", "trash"].flatMap((name) => readdirSync(join(store.folder, name)));

test("it is made once, and the next one asks for finds the same files", async () => {
  const source = usualTree();
  const first = await open(source);
  expect(textIn(first, "b/d/e.txt")).toBe("three\n");
  const { ino } = lstatSync(join(first.files, "a.txt"));
  expect(lstatSync(join((await open(source)).files, "a.txt")).ino).toBe(ino);
  expect([kept().length, rubbish()]).toEqual([1, []]);
});

test("two that are made at once are one", async () => {
  const source = usualTree();
  const [base, other] = await Promise.all([open(source), open(source)]);
  expect(base.files).toBe(other.files);
  expect([kept().length, rubbish()]).toEqual([1, []]);
});

test.each(["base_draft", "base_read", "base_files", "base_note", "base_rename"])(
  "cut short at %s, nothing of it counts and the next one makes it whole",
  async (place) => {
    const source = usualTree();
    let fired = 0;

    const failpoint = (at: string): void => {
      if (at !== place) return;
      fired += 1;
      throw new Error("killed");
    };

    const failing = openStore(store.folder, { failpoint });
    await expect(openBase(failing, source)).rejects.toThrow("killed");
    expect(fired).toBe(1);
    expect(kept()).toEqual([]);
    expect(textIn(await open(source), "a.txt")).toBe("one\n");
    expect(rubbish()).toEqual([]);
  },
);

test("what a maker that was killed left is swept, and what one that lives makes is not", async () => {
  const dead = join(store.folder, "drafts", "dead");
  mkdirSync(dead, { recursive: true });
  writeFileSync(join(dead, "lease"), ""); // nobody holds it
  mkdirSync(join(store.folder, "drafts", "young")); // not locked yet
  await evict(store);
  expect(rubbish()).toEqual(["young"]);
});

test("one that a run distrusts is in use no longer", async () => {
  const { call, format, tree } = usualTree();
  const bases = new OpenBases({ shadow: { call, format } as Shadow, commit: tree, store });
  await bases.open(tree);
  const small = openStore(store.folder, { bytesMax: 0 });
  await evict(small);
  expect(kept()).toHaveLength(1);
  await bases.distrust();
  await evict(small);
  expect(kept()).toEqual([]);
});

test.each([
  "a file",
  "a link",
  "an empty folder",
  "a folder without its lease",
  "a folder with a folder as its lease",
])("in the place of a base %s is taken away, and the base is made anew", async (kind) => {
  const source = usualTree();
  const base = await open(source);
  base.lease.release();
  rmSync(kind.startsWith("a folder") ? join(base.folder, "lease") : base.folder, {
    recursive: true,
  });

  if (kind === "a file") writeFileSync(base.folder, "");
  if (kind === "a link") symlinkSync("/", base.folder);
  if (kind === "an empty folder") mkdirSync(base.folder);
  if (kind.endsWith("as its lease")) mkdirSync(join(base.folder, "lease"));
  await evict(store);
  expect(textIn(await open(source), "a.txt")).toBe("one\n");
  expect(rubbish()).toEqual([]);
});

const damages: Readonly<Record<string, (files: string) => void>> = {
  "a file was changed": (files) => writeFileSync(join(files, "a.txt"), "bad\n"),
  "a file was changed to another of the same length": (files) =>
    writeFileSync(join(files, "a.txt"), "bad!"),
  "a file is gone": (files) => rmSync(join(files, "b/c.txt")),
  "a file was added": (files) => writeFileSync(join(files, "b/new.txt"), "new\n"),
  "a file became executable": (files) => chmodSync(join(files, "a.txt"), 0o755),
  "a file was changed and its time put back": (files) => {
    const { atime, mtime } = statSync(join(files, "a.txt"));
    writeFileSync(join(files, "a.txt"), "bad\n");
    utimesSync(join(files, "a.txt"), atime, mtime);
  },
  "an empty folder was added": (files) => mkdirSync(join(files, "b/empty")),
  "a folder's mode was changed": (files) => chmodSync(join(files, "b"), 0o777),
  "a folder is gone": (files) => rmSync(join(files, "b"), { recursive: true }),
  "its list is gone": (files) => rmSync(join(dirname(files), "index")),
  "its note is gone": (files) => rmSync(join(dirname(files), "base.json")),
};
aFew(5).each(Object.entries(damages))("where %s it is made anew", async (_, damage) => {
  const source = usualTree();
  const base = await open(source);
  base.lease.release();
  damage(base.files);
  const again = await open(source);
  expect([
    textIn(again, "a.txt"),
    textIn(again, "b/c.txt"),
    readdirSync(join(again.files, "b")).sort(),
  ]).toEqual(["one\n", "two\n", ["c.txt", "d"]]);

  expect([
    statSync(join(again.files, "a.txt")).mode & 0o111,
    statSync(join(again.files, "b")).mode & 0o022,
  ]).toEqual([0, 0]);
});

/** Bases of two trees, neither in use, and the folder of the second. */
async function makeTwo(): Promise<{
  readonly source: BaseSource;
  readonly base: Base;
  readonly other: Base;
}> {
  const other = await open(treeOf({ ...usual, "a.txt": "other\n" }));
  const source = usualTree();
  const base = await open(source);
  base.lease.release();
  other.lease.release();

  return { source, base, other };
}
const swaps: Readonly<Record<string, (base: Base, other: Base) => void>> = {
  "another base was moved to its place": (base, other) => {
    rmSync(base.folder, { recursive: true });
    renameSync(other.folder, base.folder);
  },
  "a copy of another base lies in its place": (base, other) => {
    rmSync(base.folder, { recursive: true });
    execFileSync("cp", ["-a", other.folder, base.folder]);
  },
  "it is a link to another base": (base, other) => {
    rmSync(base.folder, { recursive: true });
    symlinkSync(other.folder, base.folder);
  },
  "its files are those of another base": (base, other) => {
    rmSync(base.files, { recursive: true });
    renameSync(other.files, base.files);
  },
  "its files are a link to another base's": (base, other) => {
    rmSync(base.files, { recursive: true });
    symlinkSync(other.files, base.files);
  },
  "others may write to it": (base) => chmodSync(base.folder, 0o777),
  "others may write to the folder of its files": (base) => chmodSync(base.files, 0o777),
};
aFew(4).each(Object.entries(swaps))(
  "if %s it is made anew, however lately it was looked at",
  async (_, swap) => {
    const { source, base, other } = await makeTwo();
    swap(base, other);
    expect(await isIntact(base)).toBe(false);
    const again = await open(source, { ...store, recheckMs: 600_000 });
    expect(textIn(again, "a.txt")).toBe("one\n");
    expect([statSync(again.folder).mode & 0o022, statSync(again.files).mode & 0o022]).toEqual([
      0, 0,
    ]);
  },
);

test("a base that was away for a while is no longer vouched for", async () => {
  const { base, other } = await makeTwo();
  expect(await isIntact(base)).toBe(true);
  const away = `${base.folder}.away`;
  renameSync(base.folder, away);
  renameSync(other.folder, base.folder);
  renameSync(base.folder, other.folder);
  renameSync(away, base.folder);
  expect([textIn(base, "a.txt"), await isIntact(base)]).toEqual(["one\n", false]);
});

test("opening, looking, evicting and a base that is made beside it leave a base as it was opened", async () => {
  const { source, base, other } = await makeTwo();
  writeFileSync(join(base.folder, "looked"), "another start");
  await open(source);
  await open(treeOf({ "a.txt": "third\n" }));
  await evict({ ...store, bytesMax: 1 });
  expect([await isIntact(base), existsSync(other.folder)]).toEqual([true, false]);
});

test.skipIf(process.getuid?.() !== 0)(
  "a base of another user is made anew (needs root, to make one)",
  async () => {
    const { source, base } = await makeTwo();
    chownSync(base.folder, 65534, 65534);
    const again = await open(source, { ...store, recheckMs: 600_000 });
    expect([textIn(again, "a.txt"), statSync(again.folder).uid]).toEqual(["one\n", 0]);
  },
);

test.skipIf(process.getuid?.() !== 0)(
  "what is mounted in a base is neither used nor deleted (needs root, to mount)",
  async () => {
    const { source, base } = await makeTwo();
    const mounted = join(room, "mounted");
    mkdirSync(mounted);
    writeFileSync(join(mounted, "a.txt"), "other\n");
    execFileSync("mount", ["--bind", mounted, base.files]);

    try {
      expect(await isIntact(base)).toBe(false);
      await expect(openBase({ ...store, recheckMs: 600_000 }, source)).rejects.toThrow(
        `mounted at ${realpathSync(base.files)}`,
      );

      await evict({ ...store, bytesMax: 0 });
      expect(textIn(base, "a.txt")).toBe("other\n");
    } finally {
      execFileSync("umount", [base.files]);
    }

    expect(textIn(await open(source), "a.txt")).toBe("one\n");
  },
);

test("its files are not looked at again within the time that is set, and after it they are", async () => {
  const source = usualTree();
  const base = await open(source);
  rmSync(join(base.files, "b/c.txt"));
  base.lease.release();
  await open(source, { ...store, recheckMs: 600_000 });
  expect(existsSync(join(base.files, "b/c.txt"))).toBe(false);
  for (const item of opened.splice(0)) item.lease.release();
  expect(textIn(await open(source), "b/c.txt")).toBe("two\n");
});

test("after the machine started anew its content is read once, so that damage no time tells of is found", async () => {
  const source = usualTree();
  const base = await open(source);
  base.lease.release();
  const file = join(base.files, "a.txt");
  const { atime, mtime } = statSync(file);
  writeFileSync(file, "bad\n");
  utimesSync(file, atime, mtime);
  const note = join(base.folder, "base.json"); // as if the damage had not left a change time
  writeFileSync(
    note,
    readFileSync(note, "utf8").replace(/"made":"[^"]*"/, `"made":"${Date.now() + 60_000}000000"`),
  );

  expect(textIn(await open(source), "a.txt")).toBe("bad\n");
  for (const item of opened.splice(0)) item.lease.release();
  writeFileSync(join(base.folder, "looked"), "another start");
  expect(textIn(await open(source), "a.txt")).toBe("one\n");
});

test("only looking changes nothing: a base that was read, listed and looked at stays", async () => {
  const source = usualTree();
  const base = await open(source);
  base.lease.release();
  const { ino } = lstatSync(base.files);
  execFileSync("find", [base.files, "-type", "f", "-exec", "cat", "{}", "+"]);
  expect(await isIntact(base)).toBe(true);
  expect(lstatSync((await open(source)).files).ino).toBe(ino);
});

test("without a find that knows change times every file is looked at all the same", async () => {
  const base = await open(usualTree());
  const path = process.env["PATH"];
  process.env["PATH"] = join(room, "nothing");

  try {
    expect(await isIntact(base)).toBe(true);
    writeFileSync(join(base.files, "b/d/e.txt"), "THREE\n");
    expect(await isIntact(base)).toBe(false);
  } finally {
    process.env["PATH"] = path;
  }
});

test("the least recently used goes first, and one that is in use stays", async () => {
  const orders = ["1", "2", "3"].map((text) => treeOf({ "a.txt": text.repeat(1000) }));
  const bases: Base[] = [];
  for (const source of orders) bases.push(await open(source));
  const [oldest, middle, newest] = bases;
  oldest?.lease.release();
  newest?.lease.release();
  utimesSync(join(oldest?.folder ?? "", "lease"), 1, 1);
  utimesSync(join(middle?.folder ?? "", "lease"), 2, 2);
  await evict({ ...store, bytesMax: 2500 });
  expect(bases.map(({ folder }) => existsSync(folder))).toEqual([false, true, true]);
  await evict({ ...store, bytesMax: 0 });
  expect(bases.map(({ folder }) => existsSync(folder))).toEqual([false, true, false]);
});

test("names that are no text, 40 folders deep, 500 files in one folder, links: all are there", async () => {
  const deep = `${Array.from({ length: 40 }, (_, index) => `d${index}`).join("/")}/file`;
  const many = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`many/f${index}`, ""]),
  );

  const root = join(room, "repo");
  treeOf({ [deep]: "deep\n", ...many });
  symlinkSync("nowhere", join(root, "link"));
  git("add", "-A");

  const base = await open({
    call: { cwd: root, isOwn: true, env: { GIT_DIR: join(root, ".git") } },
    format: "sha1",
    tree: git("write-tree"),
  });
  expect(textIn(base, deep)).toBe("deep\n");
  expect(readdirSync(join(base.files, "many"))).toHaveLength(500);
  expect(lstatSync(join(base.files, "link")).isSymbolicLink()).toBe(true);
});

test("a content filter of the tree does not run, and its line endings apply", async () => {
  const source = treeOf({
    ".gitattributes": "*.txt filter=shout text eol=crlf\n",
    "a.txt": "quiet\n",
  });

  git("config", "filter.shout.smudge", "tr a-z A-Z");
  mkdirSync(join(room, "raw", "info"), { recursive: true });
  const raw = join(room, "raw.git");
  execFileSync("git", ["init", "-q", "--bare", raw]);
  writeFileSync(
    join(raw, "objects", "info", "alternates"),
    `${join(room, "repo", ".git", "objects")}\n`,
  );

  writeFileSync(join(raw, "info", "attributes"), "* -filter\n");
  expect(
    textIn(
      await open({ ...source, call: { cwd: room, isOwn: true, env: { GIT_DIR: raw } } }),
      "a.txt",
    ),
  ).toBe("quiet\r\n");
});

test.each([
  [
    "others may write to",
    (folder: string): void => chmodSync(folder, 0o777),
    "can be written by others",
  ],
  [
    "is a link",
    (folder: string): void => (rmSync(folder, { recursive: true }), symlinkSync(room, folder)),
    "is not a folder",
  ],
])("a store that %s is refused", (_, spoil, message) => {
  spoil(store.folder);
  expect(() => openStore(store.folder)).toThrow(message);
});

test("a folder of bases that others may write to is refused", () => {
  chmodSync(join(store.folder, "bases"), 0o770);
  expect(() => openStore(store.folder)).toThrow("can be written by others");
});

test.skipIf(process.getuid?.() !== 0)(
  "a store that belongs to another user is refused (needs root, to make one)",
  () => {
    chownSync(store.folder, 65534, 65534);
    expect(() => openStore(store.folder)).toThrow("belongs to another user");
    expect(() => openStore(store.folder)).toThrow(
      expect.objectContaining({ hint: expect.not.stringContaining("chmod") as unknown }),
    );
  },
);

test("a tree that git refuses to look at is refused with what git says", async () => {
  const source = treeOf({
    ...usual,
    ".gitmodules": '[submodule "s"]\n\tpath = s\n\turl = ./s\n\tupdate = !touch x\n',
  });

  git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},s`);
  await expect(openBase(store, { ...source, tree: git("write-tree") })).rejects.toThrow(
    "submodule.s.update",
  );
});

test("the store lies where caches lie", () => {
  expect(findStoreFolder({ XDG_CACHE_HOME: "/c", HOME: "/h" })).toBe("/c/autopilot");
  expect(findStoreFolder({ XDG_CACHE_HOME: "relative", HOME: "/h" })).toBe("/h/.cache/autopilot");
});
