// call-numbers: the system call numbers that our filters use, for each known processor, as data.

type Numbers = Readonly<Record<"x64" | "arm64", number>>;
const numbers = (x64: number, arm64: number): Numbers => ({ x64, arm64 });

/**
 * Kernel objects that every process of the same user can reach by number or name: shared memory,
 * semaphores, queues, keys.
 */
export const sharedObjectCalls = {
  shmget: numbers(29, 194),
  shmat: numbers(30, 196),
  shmctl: numbers(31, 195),
  shmdt: numbers(67, 197),
  semget: numbers(64, 190),
  semop: numbers(65, 193),
  semctl: numbers(66, 191),
  semtimedop: numbers(220, 192),
  msgget: numbers(68, 186),
  msgsnd: numbers(69, 189),
  msgrcv: numbers(70, 188),
  msgctl: numbers(71, 187),
  mq_open: numbers(240, 180),
  mq_unlink: numbers(241, 181),
  add_key: numbers(248, 217),
  request_key: numbers(249, 218),
  keyctl: numbers(250, 219),
} as const;

/** Calls that change another process. Their first argument names it; zero is the caller itself. */
export const otherProcessCalls = {
  prlimit64: numbers(302, 261),
  sched_setparam: numbers(142, 118),
  sched_setscheduler: numbers(144, 119),
  sched_setattr: numbers(314, 274),
  sched_setaffinity: numbers(203, 122),
} as const;

/**
 * The same, if the first argument says what the second one names: one process, a group, or all of a
 * user.
 */
export const groupTargetCalls = {
  setpriority: numbers(141, 140),
  ioprio_set: numbers(251, 30),
} as const;

export const socketCalls = {
  socket: numbers(41, 198),
  listen: numbers(50, 201),
  sendto: numbers(44, 206),
  sendmsg: numbers(46, 211),
  sendmmsg: numbers(307, 269),
} as const;

export const selfCalls = { prctl: numbers(157, 167), capset: numbers(126, 91) } as const;

/** The number by which the kernel names the processor's call table in a filter. */
export const auditArchitectures: Numbers = numbers(0xc000003e, 0xc00000b7);

export const callNumbers = {
  ...sharedObjectCalls,
  ...otherProcessCalls,
  ...groupTargetCalls,
  ...socketCalls,
  ...selfCalls,
} as const;
export type Processor = keyof Numbers;
export const readProcessor = (): Processor | null =>
  process.arch === "x64" || process.arch === "arm64" ? process.arch : null;
