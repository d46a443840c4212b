-- Counts the due tasks in the queues of these lanes whose names no lane takes: of each name at most 100, and of at most
-- max_names names. It goes through such a name by the first task of each level (a concurrency key and a priority), over
-- at most 200 levels, so of tasks that are due later it reads only those. Tasks of a paused lane do not count, nor do
-- those that have expired; while there are none, no task is read for its expiry.
-- @param lanes_json json
-- @param max_names integer
-- @param now_ms integer?
-- @returns queue, name, tasks
with recursive
@now(),
any_expired(has) as materialized (select @first_expiry() <= (select ms from now)),
names(queue, name) as (
  select asked.queue, @least(name, @queued(asked.queue))
  from (select distinct value->>'queue' as queue from json_each(:lanes_json)) asked
  where not @is_paused(asked.queue, '')
  union all
  select queue, @least(name, @queued(names.queue) and name > names.name) from names where name is not null
),
levels(queue, name, id) as (
  select names.queue, names.name, (
      select id from cairnq_tasks
      where @queued(names.queue, names.name)
      order by concurrency_key, priority desc limit 1
    )
  from names
  where names.name is not null and not @is_paused(names.queue, names.name) and not exists (
    select 1 from json_each(:lanes_json) lane
    where lane.value->>'queue' = names.queue and ifnull(lane.value->>'name', names.name) = names.name
  )
  union all
  select levels.queue, levels.name, coalesce((
      select id from cairnq_tasks
      where @queued(levels.queue, levels.name, first.concurrency_key) and priority < first.priority
      order by priority desc limit 1
    ), (
      select id from cairnq_tasks
      where @queued(levels.queue, levels.name) and concurrency_key > first.concurrency_key
      order by concurrency_key, priority desc limit 1
    ))
  from levels join cairnq_tasks first on first.id = levels.id
  limit 200
),
due(queue, name, tasks) as (
  select levels.queue, levels.name, (
      select count(*) from (
        select 1 from cairnq_tasks
        where @queued(levels.queue, levels.name, first.concurrency_key)
          and priority = first.priority and run_at_ms <= (select ms from now)
          and iif((select has from any_expired), not @is_expired(cairnq_tasks, (select ms from now)), 1)
        limit 100
      )
    )
  from levels join cairnq_tasks first on first.id = levels.id
)
select queue, name, min(sum(tasks), 100) as tasks from due where tasks > 0 group by queue, name limit +:max_names
