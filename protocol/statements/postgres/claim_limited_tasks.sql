-- Leases due tasks to one owner as claim_tasks does, and tasks with a concurrency key among them: of each key no more
-- than its limits have room for. A lane has one entry for each of its keys, and a key that the lane's owner served
-- lately takes its turn one later. A key without limits, which a purge forgot, has room for one.
--
-- The room of a key goes to its first tasks in the order, then the quota of a lane to its first tasks. It must follow
-- lock_limits in the same transaction, so that it reads what the claims before it took.
-- @param lanes_json json
-- @param worker_id text
-- @param lease_ms integer
-- @param max_tasks integer
-- @param holds integer
-- @param max_task_bytes integer?
-- @param weighs integer
-- @param scope text?
-- @param now_ms integer?
-- @returns task
with recursive
@now(),
declared as materialized (
  select
    lane->>'queue' as queue, lane->>'name' as name, (lane->>'rank')::bigint as rank, lane->'served' as served,
    least((lane->>'quota')::bigint, :max_tasks::bigint) as quota
  from @elements(coalesce(@scope_guard(), :lanes_json)) as given(lane)
  where (lane->>'quota')::bigint > 0 and not @is_paused(lane->>'queue', coalesce(lane->>'name', ''))
),
lanes as (
  select queue, name, rank, served, quota from declared where name is not null
  union all
  select declared.queue, found.name, declared.rank, declared.served, declared.quota
  from declared cross join lateral @distinct(name, @queued(declared.queue)) as found(name)
  where declared.name is null and not @is_paused(declared.queue, found.name)
),
keys as (
  select
    lanes.queue, lanes.name,
    lanes.rank + case when found.key <> '' and lanes.served @> to_jsonb(found.key) then 1 else 0 end as rank,
    lanes.quota, found.key
  from lanes
  cross join lateral @distinct(concurrency_key, @queued(lanes.queue, lanes.name)) as found(key)
),
-- Materialized, or each use of a room would count again.
rooms as materialized (
  select keys.*, case when keys.key = '' then :max_tasks::bigint else (
      select least(
        :max_tasks::bigint,
        case when limits.key is null then 1 else limits.concurrency end - @running(keys.key),
        case when limits.rate_count is not null then limits.rate_count - (
          select coalesce(sum(tasks), 0) from wadi_limit_starts where @in_window(keys.key, limits.rate_per_ms)
        ) end
      )
      from (select 1) one left join wadi_limits limits on limits.key = keys.key
    ) end as room
  from keys
),
entries as (
  select *, least(quota, room) as most from rooms where sign(room) = 1
),
-- As in claim_tasks, one row for each entry and priority. `left_over` is what the levels above leave of `most`.
levels(queue, name, key, quota, room, turns, left_over, priority, first_ms, due) as (
  select
    entry.queue, entry.name, entry.key, entry.quota, entry.room, entry.rank + entry.most, entry.most,
    top.priority, top.first_ms, counted.due
  from entries entry
  cross join lateral @top_level(entry, entry.key) top
  cross join lateral @count_due(entry, entry.key, top, entry.most) counted
  union all
  select
    level.queue, level.name, level.key, level.quota, level.room, level.turns, level.left_over - level.due,
    top.priority, top.first_ms, counted.due
  from levels level
  cross join lateral @top_level(level, level.key, level.priority) top
  cross join lateral @count_due(level, level.key, top, level.left_over - level.due) counted
  where sign(level.left_over) = 1
),
found as (
  select
    level.queue, level.name, level.key, level.quota, level.room, level.priority, task.run_at_ms, task.id,
    level.turns - level.left_over + task.nth as turn
  from levels level
  cross join lateral (
    select run_at_ms, id, row_number() over (order by run_at_ms, id) as nth
    from cairnq_tasks
    where @due(level, level.key, level)
    order by run_at_ms, id limit level.due
  ) task
  where sign(level.due) = 1
),
picked as materialized (
  select queue, name, key, count(*) as tasks
  from (
    select queue, name, key
    from (
      select *, row_number() over (partition by queue, name order by priority desc, turn, run_at_ms, id) as of_lane
      from (
        select *, row_number() over (partition by key order by priority desc, turn, run_at_ms, id) as of_key from found
      ) within_key
      where key = '' or of_key <= room
    ) within_lane
    where of_lane <= quota
    order by priority desc, turn, run_at_ms, id
    limit (select :max_tasks::bigint)
  ) chosen
  group by queue, name, key
),
@locked(level.key, level.key = picked.key)
update cairnq_tasks task set @lease()
from now
where @among(locked) and case when (select :max_task_bytes::bigint) is null then true else @fits() end
  and not @is_expired(task, (select ms from now))
returning task.*
