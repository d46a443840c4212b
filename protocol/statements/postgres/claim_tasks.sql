-- Leases due tasks to one owner: of each lane at most its quota, in all at most max_tasks, in the order of priority
-- (highest first), due time and id. A lane is a queue and a name; a null name means every name. Within a priority,
-- lanes with a rank take turns: the one with the smallest rank + taken goes first. A task that takes more than
-- max_task_bytes in an answer is left out, and so are the tasks of a paused lane. One that has expired is passed over
-- without another in its place, or a claim would read all that have: expire_tasks ends them.
--
-- A walk without locks decides how many tasks to take from which lane; then that many are locked there, past those that
-- other claims hold. Arrays, "between" and sign() keep the planner's estimates small whatever the statistics say: if it
-- expected many rows, it would sort the backlog. The sub-select around the limit hides its value, or every call would
-- be planned again for it.
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
    lane->>'queue' as queue, lane->>'name' as name, least((lane->>'quota')::bigint, :max_tasks::bigint) as quota,
    -- Rank + quota: less what is left of the quota, that is rank + taken.
    (lane->>'rank')::bigint + least((lane->>'quota')::bigint, :max_tasks::bigint) as turns
  from @elements(coalesce(@scope_guard(), :lanes_json)) as given(lane)
  where not @is_paused(lane->>'queue', coalesce(lane->>'name', ''))
),
lanes as (
  select queue, name, quota, turns from declared where name is not null
  union all
  select declared.queue, found.name, declared.quota, declared.turns
  from declared cross join lateral @distinct(name, @queued(declared.queue)) as found(name)
  where declared.name is null and not @is_paused(declared.queue, found.name)
),
-- One row for each lane and priority, from the highest down until the due tasks fill the quota, and one level more for
-- when other claims empty the last. `quota` is what the levels above leave of it.
levels(queue, name, quota, turns, priority, first_ms, due) as (
  select lane.queue, lane.name, lane.quota, lane.turns, top.priority, top.first_ms, counted.due
  from lanes lane
  cross join lateral @top_level(lane, '') top
  cross join lateral @count_due(lane, '', top, lane.quota) counted
  union all
  select
    level.queue, level.name, level.quota - level.due, level.turns, top.priority, top.first_ms, counted.due
  from levels level
  cross join lateral @top_level(level, '', level.priority) top
  cross join lateral @count_due(level, '', top, level.quota - level.due) counted
  where sign(level.quota) = 1
),
picked as materialized (
  select queue, name, count(*) as tasks
  from (
    select level.queue, level.name
    from levels level
    cross join lateral (
      select run_at_ms, id, row_number() over (order by run_at_ms, id) as nth
      from cairnq_tasks
      where @due(level, '', level)
      order by run_at_ms, id limit level.due
    ) task
    where sign(level.due) = 1
    order by level.priority desc, level.turns - level.quota + task.nth, task.run_at_ms, task.id
    limit (select :max_tasks::bigint)
  ) chosen
  group by queue, name
),
@locked('')
update cairnq_tasks task set @lease()
from now
where @among(locked) and case when (select :max_task_bytes::bigint) is null then true else @fits() end
  and not @is_expired(task, (select ms from now))
returning task.*
