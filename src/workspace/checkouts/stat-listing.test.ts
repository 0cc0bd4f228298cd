import {
  chmodSync,
  linkSync,
  lstatSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/scratch-repository.ts";
import { bytePathFromText } from "../git/byte-path.ts";
import { writeListing, readListing } from "./stat-listing.ts";

let folder: string;
let place: string;
beforeEach(async () => {
  folder = scratchFolder();
  place = join(scratchFolder(), "place");
  writeFileSync(join(folder, "a"), "one\n");
  writeFileSync(join(folder, "b"), "two\n");
  symlinkSync("a", join(folder, "l"));
  await writeListing(place, folder, ["a", "b", "l", "gone"].map(bytePathFromText));
});

const unchanged = async (): Promise<readonly string[]> => {
  const isUnchanged = await readListing(place);
  if (isUnchanged === null) return ["not noted"];
  return ["a", "b", "l"].filter((name) =>
    isUnchanged(bytePathFromText(name), lstatSync(join(folder, name))),
  );
};

test("files that nobody touched are known", async () => {
  expect(await unchanged()).toEqual(["a", "b", "l"]);
});

const actions: Readonly<Record<string, (file: string) => void>> = {
  "a change of the same length with its time set back": (file) => {
    const { atime, mtime } = lstatSync(file);
    writeFileSync(file, "bad\n");
    utimesSync(file, atime, mtime);
  },
  "another file of the same name": (file) => {
    writeFileSync(`${file}.new`, "one\n");
    renameSync(`${file}.new`, file);
  },
  "another mode": (file) => chmodSync(file, 0o755),
  "a second name": (file) => linkSync(file, `${file}.second`),
  "a link in its place": (file) => {
    rmSync(file);
    symlinkSync("b", file);
  },
};
test.each(Object.entries(actions))(
  "%s is no longer known, and has to be read",
  async (_, action) => {
    action(join(folder, "a"));
    expect(await unchanged()).toEqual(["b", "l"]);
  },
);

test("where nothing was noted everything has to be read", async () => {
  rmSync(join(place, "listing"));
  expect(await unchanged()).toEqual(["not noted"]);
});
