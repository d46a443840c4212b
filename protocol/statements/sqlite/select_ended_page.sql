-- A page of a bulk retry or purge: up to max_tasks tasks behind a position that ended up to the cutoff, oldest first.
-- Merges one entry of the index for each queue and status, and reads what it returns. A task of another name is no
-- match. A position is 15 digits of the time of the end, and the id.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param cutoff_ms integer?
-- @param position text?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns id, position, matches, ms
with recursive
cutoff(ms) as not materialized (select coalesce(cast(:cutoff_ms as integer), @present())),
queues(queue) as (
  select coalesce(:queue, @least(queue, completed_at_ms is not null))
  union all
  select @least(queue, completed_at_ms is not null and queue > queues.queue)
  from queues where :queue is null and queues.queue is not null
),
statuses(status) as (
  select value from json_each('["succeeded","failed","canceled"]') where :status is null or value = :status
),
walk(queue, status, position) as not materialized (
  select queue, status, ifnull(:position, '') from queues cross join statuses where queue is not null
  union all
  select queue, status, (
      select printf('%015d', completed_at_ms) || id from cairnq_tasks
      where completed_at_ms is not null and queue = walk.queue and status = walk.status
        and completed_at_ms <= (select ms from cutoff)
        and (completed_at_ms, id)
          > (cast(substr(walk.position, 1, 15) as integer), substr(walk.position, 16))
      order by completed_at_ms, id limit 1
    )
  from walk where position is not null
  order by 3
),
page(id, position) as materialized (
  select substr(position, 16), position from walk where position > ifnull(:position, '') limit +:max_tasks
)
select task.id, page.position, :name is null or task.name = :name as matches, @safe_time((select ms from cutoff)) as ms
from page cross join cairnq_tasks task on task.id = page.id
