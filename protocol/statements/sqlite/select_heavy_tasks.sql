-- Reports due tasks of these lanes that take more than max_task_bytes in an answer, and what they take: of each lane,
-- key and priority those among its first ten, and with each when the next task of the lanes becomes due. It follows a
-- weighing claim, which has taken what fits before them.
-- @param lanes_json json
-- @param max_task_bytes integer
-- @param now_ms integer?
-- @returns id, name, queue, bytes, next_ms
with recursive
now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
lanes(queue, name, every) as (
  select value->>'queue', coalesce(value->>'name', (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue'
      order by t.name limit 1
    )), value->>'name' is null
  from json_each(:lanes_json)
  where value->>'quota' > 0
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
      where t.status = 'queued' and t.queue = lanes.queue and t.name = lanes.name
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
levels(queue, name, key, priority) as (
  select queue, name, key, (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = keys.queue and t.name = keys.name and t.concurrency_key = keys.key
        and @claimable(t)
      order by t.priority desc limit 1
    )
  from keys where key is not null
  union all
  select queue, name, key, (
      select t.priority from cairnq_tasks t
      where t.status = 'queued' and t.queue = levels.queue and t.name = levels.name and t.concurrency_key = levels.key
        and t.priority < levels.priority and @claimable(t)
      order by t.priority desc limit 1
    )
  from levels where priority is not null
)
select
  o.id, o.name, o.queue, @weight(o) as bytes,
  (
    select max(-9007199254740991, min(9007199254740991, min((
      select t.run_at_ms from cairnq_tasks t
      where t.status = 'queued' and t.queue = n.queue and t.name = n.name and t.concurrency_key = n.key
        and t.priority = n.priority and t.run_at_ms > (select ms from now) and @claimable(t)
      order by t.run_at_ms limit 1
    )))) + 0.0
    from levels n where n.priority is not null
  ) as next_ms
from levels l
cross join json_each((
  select json_group_array(id)
  from (
    select t.id from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = l.key
      and t.priority = l.priority and t.run_at_ms <= (select ms from now) and @claimable(t)
    order by t.run_at_ms, t.id limit 10
  )
)) h
cross join cairnq_tasks o on o.id = h.value
where l.priority is not null and not @fits(o)
limit 100
