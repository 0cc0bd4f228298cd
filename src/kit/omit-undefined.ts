// omit-undefined: drops the undefined fields of an object: what was not given is absent from it.

type MaybeKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];
export type WithoutUndefined<T> = Omit<T, MaybeKeys<T>> & {
  [K in MaybeKeys<T>]?: Exclude<T[K], undefined>;
};

export const omitUndefined = <T extends object>(value: T): WithoutUndefined<T> =>
  Object.fromEntries(
    Object.entries(value).filter(([, field]) => field !== undefined),
  ) as WithoutUndefined<T>;
