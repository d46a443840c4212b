-- Says when the next task of these lanes is due, when the next lease of any task runs out, and when a task with a
-- concurrency key can be claimed next: null if none is queued, 2^53 - 1 if all of their keys are at their concurrency
-- (who ends a task looks again). Nothing is looked up for limits where there have never been any.
-- The levels are the priorities in use; `lists` marks a lane that has yet to list its names.
-- As a claim does, it passes by an id that is empty, no text, or contains NUL.
-- @param lanes_json json
-- @param now_ms integer?
-- @returns now_ms, run_at_ms, lease_until_ms, limited_at_ms
with recursive
now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
levels(queue, name, lists, priority) as (
  select value->>'queue', coalesce(value->>'name', (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue'
      order by t.name limit 1
    )), value->>'name' is null, case when value->>'name' is not null then (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue' and t.name = value->>'name' and t.concurrency_key = ''
        and @claimable(t)
      order by t.priority desc limit 1
    ) end
  from json_each(:lanes_json)
  union all
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = levels.queue and t.name > levels.name
      order by t.name limit 1
    ), 1, null
  from levels where lists and name is not null
  union all
  select queue, name, 0, iif(lists, (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = levels.queue and t.name = levels.name and t.concurrency_key = ''
        and @claimable(t)
      order by t.priority desc limit 1
    ), (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = levels.queue and t.name = levels.name and t.concurrency_key = ''
        and t.priority < levels.priority
        and @claimable(t)
      order by t.priority desc limit 1
    ))
  from levels where priority is not null or (lists and name is not null)
),
lanes(queue, name, every) as (
  select value->>'queue', coalesce(value->>'name', (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue'
      order by t.name limit 1
    )), value->>'name' is null
  from json_each(:lanes_json)
  union all
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = lanes.queue and t.name > lanes.name
      order by t.name limit 1
    ), every
  from lanes where every and name is not null
),
keys(queue, name, key) as (
  select queue, name, (
      select t.concurrency_key from cairnq_tasks t
      where t.status = 'queued' and t.queue = lanes.queue and t.name = lanes.name and t.concurrency_key > ''
      order by t.concurrency_key limit 1
    )
  from lanes where name is not null
  union all
  select queue, name, (
      select t.concurrency_key from cairnq_tasks t
      where t.status = 'queued' and t.queue = keys.queue and t.name = keys.name and t.concurrency_key > keys.key
      order by t.concurrency_key limit 1
    )
  from keys where key is not null
),
-- Of a key at its concurrency the one level is free at the end of time.
limited(queue, name, key, free_ms, priority) as (
  select k.queue, k.name, k.key, case
      when iif(l.key is null, 1, l.concurrency) <= (
        select count(*) from cairnq_tasks t
        where t.status = 'running' and t.concurrency_key = k.key and t.concurrency_key <> ''
      ) then 9007199254740991
      when l.rate_count > 0 then (
        select ifnull(max(w.started_at_ms) + l.rate_per_ms, 0)
        from (
          select s.started_at_ms, sum(s.tasks) over (order by s.started_at_ms desc, s.worker_id) as tasks
          from wadi_limit_starts s
          where s.key = k.key and s.started_at_ms > (select ms from now) - l.rate_per_ms
        ) w
        where w.tasks >= l.rate_count
      )
      else 0
    end, (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = k.queue and t.name = k.name and t.concurrency_key = k.key
        and @claimable(t)
      order by t.priority desc limit 1
    )
  from keys k left join wadi_limits l on l.key = k.key
  where k.key is not null
  union all
  select queue, name, key, free_ms, (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = limited.queue and t.name = limited.name
        and t.concurrency_key = limited.key and t.priority < limited.priority
        and @claimable(t)
      order by t.priority desc limit 1
    )
  from limited where priority is not null and free_ms < 9007199254740991
)
select
  (select ms from now) as now_ms,
  max(-9007199254740991, min(9007199254740991, (
    select min((
      select t.run_at_ms from cairnq_tasks t
      where t.status = 'queued' and t.queue = levels.queue and t.name = levels.name and t.concurrency_key = ''
        and t.priority = levels.priority and @claimable(t)
      order by t.run_at_ms limit 1
    )) from levels where priority is not null
  )) + 0.0) as run_at_ms,
  max(-9007199254740991, min(9007199254740991, (
    select t.lease_until_ms from cairnq_tasks t
    where t.status = 'running' and t.lease_until_ms is not null
    order by t.lease_until_ms limit 1
  )) + 0.0) as lease_until_ms,
  max(-9007199254740991, min(9007199254740991, case when exists (select 1 from wadi_limits) then (
    select min(max(free_ms, (
      select t.run_at_ms from cairnq_tasks t
      where t.status = 'queued' and t.queue = limited.queue and t.name = limited.name
        and t.concurrency_key = limited.key and t.priority = limited.priority
        and @claimable(t)
      order by t.run_at_ms limit 1
    ))) from limited where priority is not null
  ) end) + 0.0) as limited_at_ms
