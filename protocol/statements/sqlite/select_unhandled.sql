-- Counts due tasks in the queues of these lanes whose names no lane takes: of each name at most 100, and of at most
-- max_names names. It goes from level to level (a name, a limit's key, a priority) by the first task of each, over at most
-- 200 levels, so it reads no task that is due later but those.
-- @param lanes_json json
-- @param max_names integer
-- @param now_ms integer?
-- @returns queue, name, tasks
with recursive
now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
levels(queue, id) as (
  select q.queue, (
      select n.id from cairnq_tasks n
      where n.status = 'queued' and n.queue = q.queue
      order by n.name, n.concurrency_key, n.priority desc limit 1
    )
  from (select distinct value->>'queue' as queue from json_each(:lanes_json)) q
  union all
  select l.queue, coalesce(
      iif(exists (
        select 1 from json_each(:lanes_json) j
        where j.value->>'queue' = l.queue and ifnull(j.value->>'name', t.name) = t.name
      ), null, coalesce((
        select n.id from cairnq_tasks n
        where n.status = 'queued' and n.queue = l.queue and n.name = t.name and n.concurrency_key = t.concurrency_key
          and n.priority < t.priority
        order by n.priority desc limit 1
      ), (
        select n.id from cairnq_tasks n
        where n.status = 'queued' and n.queue = l.queue and n.name = t.name and n.concurrency_key > t.concurrency_key
        order by n.concurrency_key, n.priority desc limit 1
      ))),
      (
        select n.id from cairnq_tasks n
        where n.status = 'queued' and n.queue = l.queue and n.name > t.name
        order by n.name, n.concurrency_key, n.priority desc limit 1
      )
    )
  from levels l join cairnq_tasks t on t.id = l.id
  limit 200
),
due(queue, name, tasks) as (
  select l.queue, t.name, (
      select count(*) from (
        select 1 from cairnq_tasks d
        where d.status = 'queued' and d.queue = l.queue and d.name = t.name and d.concurrency_key = t.concurrency_key
          and d.priority = t.priority and d.run_at_ms <= (select ms from now)
        limit 100
      )
    )
  from levels l join cairnq_tasks t on t.id = l.id
  where not exists (
    select 1 from json_each(:lanes_json) j
    where j.value->>'queue' = l.queue and ifnull(j.value->>'name', t.name) = t.name
  )
)
select queue, name, min(sum(tasks), 100) as tasks from due where tasks > 0 group by queue, name limit +:max_names
