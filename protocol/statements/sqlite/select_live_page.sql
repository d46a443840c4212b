-- A page of a bulk cancel: up to max_tasks queued tasks behind a position, in the order of their index, and up to
-- max_tasks running ones that were not asked to stop. Reads what it returns. A task that is no match is one that came
-- after the cutoff, that has expired, or that the walk passed on its way to the next queue. A running task has no
-- position. A position is the queue, name, concurrency key, priority, due time and id.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param cutoff_ms integer?
-- @param position json?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns id, position, matches, ms
with recursive
@now(),
cutoff(ms) as not materialized (select coalesce(cast(:cutoff_ms as integer), (select ms from now))),
walk(queue, name, concurrency_key, priority, run_at_ms, id) as not materialized (
  select
    coalesce(:position->>0, :queue, @least(queue, status = 'queued')), ifnull(:position->>1, ''),
    ifnull(:position->>2, ''), ifnull(:position->>3, 9e999), ifnull(:position->>4, -9e999), ifnull(:position->>5, '')
  where :status is not 'running'
  union all
  select task.queue, task.name, task.concurrency_key, task.priority, task.run_at_ms, task.id
  from walk
  cross join cairnq_tasks task on task.id = coalesce(
    iif(:name is null or walk.name = :name, coalesce(
      (
        select id from cairnq_tasks
        where @queued(walk.queue, walk.name, walk.concurrency_key) and priority = walk.priority
          and (run_at_ms, id) > (+walk.run_at_ms, +walk.id)
        order by run_at_ms, id limit 1
      ),
      (
        select id from cairnq_tasks
        where @queued(walk.queue, walk.name, walk.concurrency_key) and priority < walk.priority
        order by priority desc, run_at_ms, id limit 1
      ),
      (
        select id from cairnq_tasks
        where @queued(walk.queue, walk.name) and concurrency_key > walk.concurrency_key
        order by concurrency_key, priority desc, run_at_ms, id limit 1
      )
    ), null),
    iif(:name is null, (
      select id from cairnq_tasks
      where @queued(walk.queue) and name > walk.name
      order by name, concurrency_key, priority desc, run_at_ms, id limit 1
    ), iif(walk.name < :name, (
      select id from cairnq_tasks
      where @queued(walk.queue, :name)
      order by concurrency_key, priority desc, run_at_ms, id limit 1
    ), null)),
    iif(:queue is null, (
      select id from cairnq_tasks
      where status = 'queued' and queue > walk.queue
      order by queue, name, concurrency_key, priority desc, run_at_ms, id limit 1
    ), null)
  )
),
queued as materialized (
  select * from walk where id <> ifnull(:position->>5, '') limit +:max_tasks
),
running as materialized (
  select id from cairnq_tasks
  where status = 'running' and lease_until_ms is not null and +cancel_requested_at_ms is null
    and :status is not 'queued' and (:queue is null or +queue = :queue) and (:name is null or +name = :name)
    and +created_at_ms <= (select ms from cutoff)
  limit +:max_tasks
)
select
  task.id, json_array(
    task.queue, task.name, task.concurrency_key, task.priority, task.run_at_ms, task.id
  ) as position,
  (:name is null or task.name = :name) and task.created_at_ms <= (select ms from cutoff)
    and not @is_expired(task, (select ms from now)) as matches,
  @safe_time((select ms from cutoff)) as ms
from queued cross join cairnq_tasks task on task.id = queued.id
union all
select id, null, 1, @safe_time((select ms from cutoff)) from running
