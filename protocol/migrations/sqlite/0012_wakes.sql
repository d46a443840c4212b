-- What submits know of the drains of a queue: since when a kick is pending, when a delayed kick comes, and until when
-- which drain (`owner`) is going to claim tasks of which names. `hops` counts the kicks by drains that ended no task.
create table if not exists wadi_wakes (
  queue text primary key not null,
  kicked_at_ms integer,
  delayed_at_ms integer,
  active_until_ms integer,
  owner text,
  names text,
  hops integer not null default 0
) without rowid;
