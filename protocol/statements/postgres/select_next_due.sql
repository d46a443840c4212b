-- Reads when the next task of these lanes is due, when the next lease of any task expires, and when a task with a
-- concurrency key can be claimed next: null if none is queued, 2^53 - 1 if all of their keys are at their concurrency
-- (the worker that ends one of their tasks polls again). As a claim does, it passes by paused lanes. A task that has
-- expired counts until expire_tasks has ended it; expires_at_ms says whether there is one, in any lane.
--
-- `levels` are the priorities in use, each with the time from which its key is free. Where there have never been
-- limits, no key is looked up.
-- @param lanes_json json
-- @param schedule_group text?
-- @param now_ms integer?
-- @returns now_ms, run_at_ms, lease_until_ms, limited_at_ms, expires_at_ms, schedules_json
with recursive
@now(),
@lanes(),
@keys(concurrency_key > '', exists (select 1 from wadi_limits)),
-- A key at its concurrency is free at the end of time.
entries as materialized (
  select queue, name, '' as key, 0::bigint as free_ms from lanes
  union all
  select keys.queue, keys.name, keys.key, (
      select case
        when case when limits.key is null then 1 else limits.concurrency end <= @running(keys.key)
          then 9007199254740991
        when limits.rate_count is not null then (
          select coalesce(max(counted.started_at_ms) + limits.rate_per_ms, 0)
          from (
            select
              started_at_ms,
              sum(tasks) over (order by started_at_ms desc, worker_id) as tasks
            from wadi_limit_starts
            where @in_window(keys.key, limits.rate_per_ms)
          ) counted
          where counted.tasks >= limits.rate_count
        )
        else 0
      end
      from (select 1) one left join wadi_limits limits on limits.key = keys.key
    )
  from keys
),
levels(queue, name, key, free_ms, priority, first_ms) as (
  select entry.queue, entry.name, entry.key, entry.free_ms, top.priority, top.first_ms
  from entries entry cross join lateral @top_level(entry, entry.key) top
  union all
  select level.queue, level.name, level.key, level.free_ms, top.priority, top.first_ms
  from levels level cross join lateral @top_level(level, level.key, level.priority) top
)
select
  (select ms from now) as now_ms,
  (select min(first_ms) from levels where key = '') as run_at_ms,
  (
    select lease_until_ms from cairnq_tasks
    where status = 'running' and lease_until_ms is not null
    order by lease_until_ms limit 1
  ) as lease_until_ms,
  (select min(greatest(first_ms, free_ms)) from levels where key > '') as limited_at_ms,
  @first_expiry() as expires_at_ms,
  @schedules_report() as schedules_json
