-- What submits know of the drains of a queue: since when a kick is pending, when a delayed kick comes, and until when
-- which drain (`owner`) is going to claim tasks of which names. `hops` counts the kicks by drains that ended no task.
create table if not exists wadi_wakes (
  queue text primary key,
  kicked_at_ms bigint,
  delayed_at_ms bigint,
  active_until_ms bigint,
  owner text,
  names jsonb,
  hops integer not null default 0
);

-- Whether a submit has to send a kick, which it then marks as pending. It never waits: where a drain reads and writes
-- the row, it kicks without a mark. Its queries see what was committed after it took the shared lock, and a drain that
-- is about to claim waits until that lock is released: so the drain sees the task, or the submit sees no drain.
create or replace function wadi_take_kick(
  kicked_queue text, kicked_names jsonb, due_at_ms bigint, present_ms bigint, can_delay boolean
) returns boolean language plpgsql as $$
declare
  seed bigint := '@schema.wadi_wakes'::regclass::oid::bigint;
  is_due boolean := due_at_ms <= present_ms;
  is_covered boolean;
begin
  if not is_due and not can_delay then
    return false;
  end if;
  if is_due and not pg_try_advisory_xact_lock_shared(hashtextextended('wadi:wake:' || kicked_queue, seed)) then
    return true;
  end if;
  -- No drain may claim them; the resume kicks. No names stand for any.
  if not exists (
    select 1 from (
      select jsonb_array_elements_text(kicked_names) as name
      union all
      select '' where jsonb_array_length(kicked_names) = 0
    ) kicked
    where not exists (
      select 1 from wadi_pauses pause where pause.queue in (kicked_queue, '') and pause.name in (kicked.name, '')
    )
  ) then
    return false;
  end if;
  select case
      when is_due then
        coalesce(wake.kicked_at_ms between present_ms - 4999 and present_ms + 5000, false)
        or coalesce(wake.active_until_ms between present_ms + 1 and present_ms + 5000, false)
          and wake.names @> kicked_names
      else coalesce(wake.delayed_at_ms between present_ms and due_at_ms, false)
    end
  into is_covered
  from wadi_wakes wake where wake.queue = kicked_queue;
  if is_covered then
    return false;
  end if;
  -- Another submit takes the kick, and commits next.
  if is_due and not pg_try_advisory_xact_lock(hashtextextended('wadi:kick:' || kicked_queue, seed)) then
    return false;
  end if;
  if pg_try_advisory_xact_lock(hashtextextended('wadi:mark:' || kicked_queue, seed)) then
    insert into wadi_wakes (queue, kicked_at_ms, delayed_at_ms)
    values (
      kicked_queue, case when is_due then present_ms end, case when not is_due then due_at_ms end
    )
    on conflict (queue) do update set
      kicked_at_ms = coalesce(excluded.kicked_at_ms, wadi_wakes.kicked_at_ms),
      delayed_at_ms = coalesce(excluded.delayed_at_ms, wadi_wakes.delayed_at_ms);
  end if;
  return true;
end
$$;
