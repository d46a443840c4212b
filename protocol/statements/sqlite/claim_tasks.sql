-- Leases due tasks to one owner: per lane at most its quota, over all lanes at most max_tasks, in the
-- order priority desc, run_at_ms, id. A lane is a queue and a name; a null name means every name.
-- Lanes with a rank take turns within a priority: the one with the smallest rank + taken goes first.
-- The walk is a priority queue with one entry a lane, so it reads what it takes and not the backlog.
-- Its cursor sorts as tasks are claimed: 15 digits of inverted priority, 10 of the lane's turn, 15 of run_at_ms,
-- then the id.
-- The priority alone stands for the start of its level, and nothing for a lane that has yet to list its names.
-- @param lanes_json json
-- @param worker_id text
-- @param lease_ms integer
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns task
with recursive
now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
walk(queue, name, quota, cursor, rank, taken) as not materialized (
  select value->>'queue', coalesce(value->>'name', (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue'
      order by t.name limit 1
    )), value->>'quota', case when value->>'name' is null then '' else (
      select printf('%015d', 2147483647 - t.priority) from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue' and t.name = value->>'name' and t.concurrency_key = ''
      order by t.priority desc limit 1
    ) end, value->>'rank', 0
  from json_each(:lanes_json)
  union all
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = walk.queue and t.name > walk.name
      order by t.name limit 1
    ), quota, '', rank, 0
  from walk where cursor = '' and name is not null
  union all
  select queue, name, quota, coalesce((
      select printf(
          '%015d%010d%015d', 2147483647 - t.priority, ifnull(rank + taken + (length(cursor) > 15), 0), t.run_at_ms
        ) || t.id
      from cairnq_tasks t
      where t.status = 'queued' and t.queue = walk.queue and t.name = walk.name and t.concurrency_key = ''
        and t.priority = 2147483647 - cast(substr(walk.cursor, 1, 15) as integer)
        and t.run_at_ms <= (select ms from now)
        and (t.run_at_ms, t.id) > (cast(substr(walk.cursor, 26, 15) as integer), substr(walk.cursor, 41))
      order by t.run_at_ms, t.id limit 1
    ), (
      select printf('%015d', 2147483647 - t.priority) from cairnq_tasks t
      where t.status = 'queued' and t.queue = walk.queue and t.name = walk.name and t.concurrency_key = ''
        and t.priority < 2147483647 - cast(substr(walk.cursor, 1, 15) as integer)
      order by t.priority desc limit 1
    )), rank, taken + (length(cursor) > 15)
  from walk where cursor is not null and taken + (length(cursor) > 15) < quota
  order by 4
)
update cairnq_tasks set
  status = 'running',
  worker_id = :worker_id,
  lease_until_ms = (select ms from now) + cast(:lease_ms as integer),
  attempt = attempt + 1,
  updated_at_ms = (select ms from now)
where id in (select substr(cursor, 41) from walk where length(cursor) > 15 limit +:max_tasks)
returning *
