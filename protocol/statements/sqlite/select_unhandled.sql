-- Counts due tasks in the queues of these lanes whose names no lane takes: of each name at most 100, and of at most
-- max_names names. Of such a name it goes from level to level (a limit's key and a priority) by the first task of each, over at
-- most 200 levels, so it reads no task that is due later but those.
-- @param lanes_json json
-- @param max_names integer
-- @param now_ms integer?
-- @returns queue, name, tasks
with recursive
now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
names(queue, name) as (
  select q.queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = q.queue
      order by t.name limit 1
    )
  from (select distinct value->>'queue' as queue from json_each(:lanes_json)) q
  union all
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = names.queue and t.name > names.name
      order by t.name limit 1
    )
  from names where name is not null
),
levels(queue, name, id) as (
  select n.queue, n.name, (
      select t.id from cairnq_tasks t
      where t.status = 'queued' and t.queue = n.queue and t.name = n.name
      order by t.concurrency_key, t.priority desc limit 1
    )
  from names n
  where n.name is not null and not exists (
    select 1 from json_each(:lanes_json) l
    where l.value->>'queue' = n.queue and ifnull(l.value->>'name', n.name) = n.name
  )
  union all
  select v.queue, v.name, coalesce((
      select t.id from cairnq_tasks t
      where t.status = 'queued' and t.queue = v.queue and t.name = v.name and t.concurrency_key = o.concurrency_key
        and t.priority < o.priority
      order by t.priority desc limit 1
    ), (
      select t.id from cairnq_tasks t
      where t.status = 'queued' and t.queue = v.queue and t.name = v.name and t.concurrency_key > o.concurrency_key
      order by t.concurrency_key, t.priority desc limit 1
    ))
  from levels v join cairnq_tasks o on o.id = v.id
  limit 200
),
due(queue, name, tasks) as (
  select v.queue, v.name, (
      select count(*) from (
        select 1 from cairnq_tasks t
        where t.status = 'queued' and t.queue = v.queue and t.name = v.name and t.concurrency_key = o.concurrency_key
          and t.priority = o.priority and t.run_at_ms <= (select ms from now)
        limit 100
      )
    )
  from levels v join cairnq_tasks o on o.id = v.id
)
select queue, name, min(sum(tasks), 100) as tasks from due where tasks > 0 group by queue, name limit +:max_names
