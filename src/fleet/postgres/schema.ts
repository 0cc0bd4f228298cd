// schema: the store's tables, as a list of migrations that only grows. Schema version N is what the
// first N of them make.

export const schemaName = "autopilot";

export type Migration = {
  readonly about: string;
  readonly statements: readonly string[];
  /**
   * The oldest schema version whose products can work with this one, because it only added to that.
   * Without it, none older can.
   */
  readonly oldestCompatible?: number;
};

/** A time in the past: no lease is held, and an order may be taken at once. */
const longAgo = "timestamptz 'epoch'";

export const migrations: readonly Migration[] = [
  {
    about: "journals, snapshots, blobs, requests",
    // run: `epoch` is the fence, one higher with each owner; `take_overs` counts leases taken from
    // an owner that had not released it; `seq`, `bytes` and `head` are the last line's number, the
    // length of all lines, and the hash that the next line must chain to. request: `forgotten` once
    // its owner has handled it.
    statements: [
      `create table autopilot.run (
        run_id text primary key check (octet_length(run_id) between 1 and 200),
        kind text not null check (kind in ('run', 'portfolio')),
        epoch bigint not null default 0,
        owner jsonb,
        lease_until timestamptz not null default ${longAgo},
        take_overs bigint not null default 0,
        seq bigint not null default 0,
        bytes bigint not null default 0,
        head bytea not null default decode(repeat('00', 32), 'hex') check (octet_length(head) = 32),
        updated_at timestamptz not null default now())`,
      `create table autopilot.entry (
        run_id text not null references autopilot.run,
        seq bigint not null,
        epoch bigint not null,
        line bytea not null check (octet_length(line) <= 1048576),
        primary key (run_id, seq)) partition by hash (run_id)`,
      ...[0, 1, 2, 3].map(
        (part) =>
          `create table autopilot.entry_${part} partition of autopilot.entry for values with (modulus 4, remainder ${part})`,
      ),
      `create table autopilot.snapshot (
        run_id text primary key references autopilot.run,
        seq bigint not null, bytes bigint not null, head bytea not null, sha256 bytea not null, state bytea not null)`,
      `create table autopilot.blob (
        hash bytea primary key check (octet_length(hash) = 32),
        bytes bytea not null check (octet_length(bytes) <= 16777216),
        at timestamptz not null default now())`,
      `create table autopilot.request (
        run_id text not null, request text not null check (octet_length(request) <= 128),
        number bigint generated always as identity,
        body jsonb not null, at timestamptz not null default now(), forgotten boolean not null default false,
        primary key (run_id, request))`,
      `create index request_pending on autopilot.request (run_id, number) where not forgotten`,
    ],
  },
  {
    about: "workers and orders",
    // worker: `jobs` is how many runs it takes at once. work_order: `needs` are labels a worker
    // must have; `slots` is how many orders of its repository may be taken at once; `not_before`
    // holds it back until then.
    statements: [
      `create table autopilot.worker (
        worker_id text primary key check (octet_length(worker_id) between 1 and 128),
        epoch bigint not null default 0,
        owner jsonb,
        lease_until timestamptz not null default ${longAgo},
        jobs int not null default 0,
        labels text[] not null default '{}',
        product text not null default '',
        is_draining boolean not null default false,
        since timestamptz not null default now())`,
      `create table autopilot.work_order (
        order_id text primary key check (octet_length(order_id) between 1 and 240),
        number bigint generated always as identity,
        run_id text not null check (octet_length(run_id) between 1 and 200),
        repository text not null check (octet_length(repository) between 1 and 200),
        priority int not null check (priority between 1 and 5),
        needs text[] not null default '{}' check (cardinality(needs) <= 16),
        slots int not null check (slots between 1 and 1000),
        not_before timestamptz not null default ${longAgo},
        state text not null default 'offered' check (state in ('offered', 'taken', 'ended', 'withdrawn')),
        worker_id text, worker_epoch bigint,
        times_taken int not null default 0,
        offered_at timestamptz not null default now(), taken_at timestamptz, ended_at timestamptz,
        outcome text check (octet_length(outcome) <= 4000))`,
      `create index work_order_offered on autopilot.work_order (priority, number) where state = 'offered'`,
      `create index work_order_taken on autopilot.work_order (repository) where state = 'taken'`,
    ],
  },
  {
    about: "append as a function",
    // A statement is planned each time it is sent; a function is planned once for a connection,
    // even behind a pooler, which doesn't keep prepared statements.
    statements: [
      `create function autopilot.append_lines(
          of_run text, of_epoch bigint, first_seq bigint, head_before bytea, head_after bytea, lines bytea[], line_bytes bigint)
        returns boolean language plpgsql as $$
        begin
          update autopilot.run set seq = first_seq + cardinality(lines) - 1, head = head_after, bytes = bytes + line_bytes, updated_at = now()
          where run_id = of_run and epoch = of_epoch and seq = first_seq - 1 and head = head_before and lease_until > clock_timestamp();
          if not found then
            return false;
          end if;
          insert into autopilot.entry (run_id, seq, epoch, line)
          select of_run, first_seq + i - 1, of_epoch, l from unnest(lines) with ordinality t(l, i);
          return true;
        end $$`,
    ],
    oldestCompatible: 2,
  },
  {
    about: "lines without a foreign key",
    // The fence has just updated the run's row; with the key the server looked it up once more for
    // each line (decision 0136).
    statements: ["alter table autopilot.entry drop constraint if exists entry_run_id_fkey"],
    oldestCompatible: 2,
  },
  {
    about: "deaths of workers with an order",
    statements: ["alter table autopilot.work_order add column deaths int not null default 0"],
    oldestCompatible: 2,
  },
  {
    about: "append under a second lease",
    // The share lock makes a process that would take that lease wait until the lines are in; and it
    // makes this append wait for a process that is taking it.
    statements: [
      `create function autopilot.append_under(
          of_lease text, lease_epoch bigint,
          of_run text, of_epoch bigint, first_seq bigint, head_before bytea, head_after bytea, lines bytea[], line_bytes bigint)
        returns boolean language plpgsql as $$
        begin
          perform from autopilot.run
          where run_id = of_lease and epoch = lease_epoch and lease_until > clock_timestamp() for share;
          if not found then
            return false;
          end if;
          return autopilot.append_lines(of_run, of_epoch, first_seq, head_before, head_after, lines, line_bytes);
        end $$`,
    ],
    oldestCompatible: 2,
  },
];

type Right = "select" | "insert" | "update" | "update (forgotten)";

/**
 * What a worker's role may do with each table, and nothing else: it can neither change nor remove a
 * line, a blob or the schema.
 */
export const workerRights: readonly (readonly [table: string, rights: readonly Right[]])[] = [
  ["run", ["select", "insert", "update"]],
  ["entry", ["select", "insert"]],
  ["blob", ["select", "insert"]],
  ["snapshot", ["select", "insert", "update"]],
  ["request", ["select", "insert", "update (forgotten)"]],
  ["worker", ["select", "insert", "update"]],
  ["work_order", ["select", "insert", "update"]],
  ["schema_version", ["select"]],
];

/** The statements that give a role the rights of a worker. */
export const createGrants = (role: string): readonly string[] => [
  `grant usage on schema autopilot to ${role}`,
  ...workerRights.map(
    ([table, rights]) => `grant ${rights.join(", ")} on autopilot.${table} to ${role}`,
  ),
];
