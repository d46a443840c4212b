-- Stores definitions of schedules. One that has the timing it had keeps its next slot, and a pause by someone else than
-- the definition stays. Without a fingerprint it stores what `wadi.schedules.set` was given, which never replaces a
-- definition in code. A schedule without `next_at_ms` is due at once, and the drain that finds it computes its first
-- slot.
-- @param schedule_group text
-- @param revision integer
-- @param fingerprint text?
-- @param schedules_json json
-- @param now_ms integer?
-- @returns nothing
with @now()
insert into wadi_schedules (
  group_name, name, source, timing, policy, overlap, max_failures, dynamic, task, paused_at_ms, paused_by, from_ms,
  next_at_ms, created_at_ms, updated_at_ms
)
select
  :schedule_group::text, item->>'name', case when :fingerprint::text is null then 'stored' else 'code' end,
  item->>'timing', item->'policy', item->>'overlap', (item->>'max_failures')::integer, (item->>'dynamic')::integer,
  item->'task',
  case when (item->>'paused')::boolean then now.ms end, case when (item->>'paused')::boolean then 'definition' end,
  coalesce((item->>'from_ms')::bigint, now.ms),
  case when item->>'from_ms' is null then now.ms else (item->>'next_at_ms')::bigint end, now.ms, now.ms
from now cross join @elements(coalesce(@guard(), :schedules_json)) as items(item)
where :fingerprint::text is null or @schedule_group()
order by item->>'name'
on conflict (group_name, name) do update set
  source = excluded.source,
  timing = excluded.timing, policy = excluded.policy, overlap = excluded.overlap,
  max_failures = excluded.max_failures, dynamic = excluded.dynamic, task = excluded.task,
  paused_at_ms = case
    when excluded.paused_by is not null then coalesce(wadi_schedules.paused_at_ms, excluded.paused_at_ms)
    when wadi_schedules.paused_by <> 'definition' then wadi_schedules.paused_at_ms
  end,
  paused_by = case
    when excluded.paused_by is not null then excluded.paused_by
    when wadi_schedules.paused_by <> 'definition' then wadi_schedules.paused_by
  end,
  from_ms = case
    when wadi_schedules.timing = excluded.timing and (wadi_schedules.paused_by = 'definition') is not true
      then wadi_schedules.from_ms
    else excluded.from_ms
  end,
  next_at_ms = case
    when wadi_schedules.timing = excluded.timing then wadi_schedules.next_at_ms
    else excluded.next_at_ms
  end,
  updated_at_ms = excluded.updated_at_ms
where excluded.source = 'code' or wadi_schedules.source = 'stored'
