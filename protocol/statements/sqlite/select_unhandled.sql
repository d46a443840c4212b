-- Counts due tasks in the queues of these lanes whose names no lane takes: of each name those among its first 100, and of
-- at most max_names names.
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
unhandled(queue, name, tasks) as (
  select queue, name, (
      select count(*) from (
        select t.run_at_ms from cairnq_tasks t
        where t.status = 'queued' and t.queue = names.queue and t.name = names.name
        limit 100
      ) first where first.run_at_ms <= (select ms from now)
    )
  from names
  where name is not null and not exists (
    select 1 from json_each(:lanes_json) l
    where l.value->>'queue' = names.queue and ifnull(l.value->>'name', names.name) = names.name
  )
)
select queue, name, tasks from unhandled where tasks > 0 limit +:max_names
