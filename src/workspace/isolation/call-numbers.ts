// call-numbers: the system call numbers our filters use, for each known processor. Data.

type Numbers = Readonly<Record<"x64" | "arm64", number>>;
const of = (x64: number, arm64: number): Numbers => ({ x64, arm64 });

/** Kernel objects that every process of the same user can reach by number or name: shared memory, semaphores, queues, keys. */
export const sharedObjects = {
  shmget: of(29, 194),
  shmat: of(30, 196),
  shmctl: of(31, 195),
  shmdt: of(67, 197),
  semget: of(64, 190),
  semop: of(65, 193),
  semctl: of(66, 191),
  semtimedop: of(220, 192),
  msgget: of(68, 186),
  msgsnd: of(69, 189),
  msgrcv: of(70, 188),
  msgctl: of(71, 187),
  mq_open: of(240, 180),
  mq_unlink: of(241, 181),
  add_key: of(248, 217),
  request_key: of(249, 218),
  keyctl: of(250, 219),
} as const;

/** Calls that change another process, with the argument that names it: zero is the caller itself. */
export const onProcesses = {
  prlimit64: of(302, 261),
  sched_setparam: of(142, 118),
  sched_setscheduler: of(144, 119),
  sched_setattr: of(314, 274),
  sched_setaffinity: of(203, 122),
} as const;

/** The same, if the first argument says what the second one names: one process, a group, or all of a user. */
export const groupTargetCalls = { setpriority: of(141, 140), ioprio_set: of(251, 30) } as const;

export const onSockets = {
  socket: of(41, 198),
  listen: of(50, 201),
  sendto: of(44, 206),
  sendmsg: of(46, 211),
  sendmmsg: of(307, 269),
} as const;

export const selfCalls = { prctl: of(157, 167), capset: of(126, 91) } as const;

/** The kernel's name for the processor's call table in a filter. */
export const auditNames: Numbers = of(0xc000003e, 0xc00000b7);

export const callNumbers = { ...sharedObjects, ...onProcesses, ...groupTargetCalls, ...onSockets, ...selfCalls } as const;
export type Processor = keyof Numbers;
export const processorHere = (): Processor | null => (process.arch === "x64" || process.arch === "arm64" ? process.arch : null);
