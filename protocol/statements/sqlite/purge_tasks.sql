-- Deletes terminal tasks that completed before the cutoff, oldest first, with their keys. A null filter matches
-- everything. The walk merges one entry for each queue and status, so it reads the tasks it deletes and no others.
-- @param older_than_ms integer
-- @param queue text?
-- @param status text?
-- @param name text?
-- @param max_tasks integer
-- @param scope text?
-- @param now_ms integer?
-- @returns id
with recursive
cutoff(ms) as not materialized (select @present() - cast(:older_than_ms as integer)),
queues(queue) as (
  select coalesce(@guard(), @scope_guard(), :queue, @least(queue, completed_at_ms is not null))
  union all
  select @least(queue, completed_at_ms is not null and queue > queues.queue)
  from queues where :queue is null and queues.queue is not null
),
statuses(status) as (
  select value from json_each('["succeeded","failed","canceled"]') where :status is null or value = :status
),
walk(queue, status, position) as not materialized (
  select queue, status, '' from queues cross join statuses where queue is not null
  union all
  select queue, status, (
      select printf('%015d', completed_at_ms) || id from cairnq_tasks
      where completed_at_ms is not null and queue = walk.queue and status = walk.status
        and completed_at_ms < (select ms from cutoff)
        and (completed_at_ms, id)
          > (cast(substr(walk.position, 1, 15) as integer), substr(walk.position, 16))
        and (:name is null or +name = :name)
      order by completed_at_ms, id limit 1
    )
  from walk where position is not null
  order by 3
)
delete from cairnq_tasks
where id in (select substr(position, 16) from walk where position <> '' limit +:max_tasks)
returning id
