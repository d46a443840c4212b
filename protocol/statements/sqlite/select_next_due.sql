-- Reads when the next task of these lanes is due, when the next lease of any task expires, and when a task with a
-- concurrency key can be claimed next: null if none is queued, 2^53 - 1 if all of their keys are at their concurrency
-- (the worker that ends one of their tasks polls again). As a claim does, it passes by paused lanes and an id that no
-- owner can name. A task that has expired counts until expire_tasks has ended it; expires_at_ms says whether there is
-- one, in any lane.
--
-- `levels` are the priorities in use by tasks without a key, `limited` those by tasks with one; `lists` marks a lane
-- that has yet to list its names. Where there have never been limits, no key is looked up.
-- @param lanes_json json
-- @param schedule_group text?
-- @param now_ms integer?
-- @returns now_ms, run_at_ms, lease_until_ms, limited_at_ms, expires_at_ms, schedules_json
with recursive
@now(),
levels(queue, name, lists, priority) as (
  select
    item.value->>'queue', coalesce(item.value->>'name', @least(name, @queued(item.value->>'queue'))),
    item.value->>'name' is null,
    case when item.value->>'name' is not null
      then @top(priority, item.value->>'queue', item.value->>'name', '') end
  from json_each(:lanes_json) item
  where not @is_paused(item.value->>'queue', ifnull(item.value->>'name', ''))
  union all
  select queue, @least(name, @queued(levels.queue) and name > levels.name), 1, null
  from levels where lists and name is not null
  union all
  select queue, name, 0, iif(
      lists,
      @top(priority, levels.queue, levels.name, ''),
      @top(priority, levels.queue, levels.name, '', levels.priority)
    )
  from levels
  where priority is not null or (lists and name is not null and not @is_paused(levels.queue, levels.name))
),
@lanes(),
@keys(concurrency_key > ''),
-- Of a key at its concurrency the one level is free at the end of time.
limited(queue, name, key, free_ms, priority) as (
  select
    keys.queue, keys.name, keys.key,
    case
      when iif(limits.key is null, 1, limits.concurrency) <= @running(keys.key) then 9007199254740991
      when limits.rate_count > 0 then (
        select ifnull(max(counted.started_at_ms) + limits.rate_per_ms, 0)
        from (
          select
            started_at_ms, sum(tasks) over (order by started_at_ms desc, worker_id) as tasks
          from wadi_limit_starts
          where @in_window(keys.key, limits.rate_per_ms)
        ) counted
        where counted.tasks >= limits.rate_count
      )
      else 0
    end,
    @top(priority, keys.queue, keys.name, keys.key)
  from keys left join wadi_limits limits on limits.key = keys.key
  where keys.key is not null
  union all
  select
    queue, name, key, free_ms, @top(priority, limited.queue, limited.name, limited.key, limited.priority)
  from limited where priority is not null and free_ms < 9007199254740991
)
select
  (select ms from now) as now_ms,
  @safe_time((
    select min((
      select run_at_ms from cairnq_tasks
      where @queued(levels.queue, levels.name, '') and priority = levels.priority and @claimable()
      order by run_at_ms limit 1
    )) from levels where priority is not null
  )) as run_at_ms,
  @safe_time((
    select lease_until_ms from cairnq_tasks
    where status = 'running' and lease_until_ms is not null
    order by lease_until_ms limit 1
  )) as lease_until_ms,
  @safe_time(case when exists (select 1 from wadi_limits) then (
    select min(max(free_ms, (
      select run_at_ms from cairnq_tasks
      where @queued(limited.queue, limited.name, limited.key) and priority = limited.priority and @claimable()
      order by run_at_ms limit 1
    ))) from limited where priority is not null
  ) end) as limited_at_ms,
  @safe_time(@first_expiry()) as expires_at_ms,
  @schedules_report() as schedules_json
