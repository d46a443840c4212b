-- What is to be queued when. `timing` says when its slots are, `next_at_ms` is the slot that comes next, and `task`
-- holds the columns of the task that a slot gets. Slots before `from_ms` are left out: it was set or resumed then.
-- `dynamic`: only workers of its group know the payload.
create table if not exists wadi_schedules (
  group_name text not null,
  name text not null,
  source text not null check (source in ('code', 'stored')),
  timing text not null check (json_valid(timing)),
  policy text not null check (json_valid(policy)),
  overlap text not null check (overlap in ('allow', 'skip', 'replace')),
  max_failures integer,
  dynamic integer not null,
  task text not null check (json_valid(task)),
  paused_at_ms integer,
  paused_by text check (paused_by in ('definition', 'operator', 'failures')),
  from_ms integer not null,
  next_at_ms integer,
  last_slot_ms integer,
  last_task_id text,
  failures integer not null default 0,
  created_at_ms integer not null,
  updated_at_ms integer not null,
  primary key (group_name, name)
) without rowid;

create index if not exists wadi_schedules_next_idx
  on wadi_schedules (dynamic, next_at_ms) where paused_at_ms is null and not (next_at_ms is null);

-- The groups of schedules that are defined in code: which definitions were stored last, and of which revision.
create table if not exists wadi_schedule_groups (
  group_name text primary key not null,
  revision integer not null,
  fingerprint text not null,
  updated_at_ms integer not null
) without rowid;
