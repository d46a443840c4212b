-- Deletes terminal tasks that completed before the cutoff, oldest first, with their keys.
-- A null filter matches everything. The walk merges one lane a queue and status.
-- @param older_than_ms integer
-- @param queue text?
-- @param status text?
-- @param name text?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns id
with recursive
cutoff(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer)) - cast(:older_than_ms as integer)
),
queues(queue) as (
  select coalesce(@guard(), :queue, (
    select t.queue from cairnq_tasks t where t.completed_at_ms is not null order by t.queue limit 1
  ))
  union all
  select (
    select t.queue from cairnq_tasks t
    where t.completed_at_ms is not null and t.queue > queues.queue
    order by t.queue limit 1
  )
  from queues where :queue is null and queues.queue is not null
),
statuses(status) as (
  select s.value from json_each('["succeeded","failed","canceled"]') s where :status is null or s.value = :status
),
walk(queue, status, position) as not materialized (
  select queue, status, '' from queues cross join statuses where queue is not null
  union all
  select queue, status, (
      select printf('%015d', t.completed_at_ms) || t.id from cairnq_tasks t
      where t.completed_at_ms is not null and t.queue = walk.queue and t.status = walk.status
        and t.completed_at_ms < (select ms from cutoff)
        and (t.completed_at_ms, t.id) > (cast(substr(walk.position, 1, 15) as integer), substr(walk.position, 16))
        and (:name is null or +t.name = :name)
      order by t.completed_at_ms, t.id limit 1
    )
  from walk where position is not null
  order by 3
)
delete from cairnq_tasks
where id in (select substr(position, 16) from walk where position <> '' limit +:max_tasks)
returning id
