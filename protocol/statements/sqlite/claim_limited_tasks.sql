-- Leases due tasks to one owner as claim_tasks does, and those with a concurrency key among them: of a key no more
-- than its limits leave room for, over all lanes. Keys split a lane, and each of them takes
-- turns with its rank, one more for those that the lane's owner served lately.
-- A key without limits, which a purge forgot, has room for one. The room of a key goes to its first tasks in the order, then the quota of a lane to its first tasks.
-- The walk is that of claim_tasks with an entry for each lane and key. It stops at max_tasks, but where keys are in
-- several lanes or a small quota has several keys it may find tasks that are then left out, and has to go on.
-- A task that takes more than max_task_bytes in the answer is left out. If it weighs, the walk reads the size of each
-- task on its way and passes by what is too large; else such a task takes its place in the limit and nothing is read for it.
-- With holds 1 those whose worker vanished before are held, with 2 all: they start only once that was announced. A
-- task has no more crashes than attempts: whoever gives it its attempts back takes the crashes from it.
-- @param lanes_json json
-- @param worker_id text
-- @param lease_ms integer
-- @param max_tasks integer
-- @param holds integer
-- @param max_task_bytes integer?
-- @param weighs integer
-- @param now_ms integer?
-- @returns task
with recursive
now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
lanes(queue, name, quota, rank, every, served) as (
  select value->>'queue', coalesce(value->>'name', (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue'
      order by t.name limit 1
    )), min(value->>'quota', cast(:max_tasks as integer)), value->>'rank', value->>'name' is null, value->'served'
  from json_each(:lanes_json)
  where value->>'quota' > 0
  union all
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = lanes.queue and t.name > lanes.name
      order by t.name limit 1
    ), quota, rank, every, served
  from lanes where every and name is not null
),
keys(queue, name, quota, rank, served, key) as (
  select queue, name, quota, rank, served, (
      select t.concurrency_key from cairnq_tasks t
      where t.status = 'queued' and t.queue = lanes.queue and t.name = lanes.name
      order by t.concurrency_key limit 1
    )
  from lanes where name is not null
  union all
  select queue, name, quota, rank, served, (
      select t.concurrency_key from cairnq_tasks t
      where t.status = 'queued' and t.queue = keys.queue and t.name = keys.name and t.concurrency_key > keys.key
      order by t.concurrency_key limit 1
    )
  from keys where key is not null
),
entries(queue, name, quota, rank, key, room) as materialized (
  select k.queue, k.name, k.quota, k.rank + (k.key <> '' and k.key in (select value from json_each(k.served))), k.key, min(
      cast(:max_tasks as integer),
      ifnull(iif(l.key is null and k.key <> '', 1, l.concurrency) - (
        select count(*) from cairnq_tasks t
        where t.status = 'running' and t.concurrency_key = k.key and t.concurrency_key <> ''
      ), 1000000),
      iif(l.rate_count is null, 1000000, l.rate_count - (
        select ifnull(sum(s.tasks), 0) from wadi_limit_starts s
        where s.key = k.key and s.started_at_ms > (select ms from now) - l.rate_per_ms
      ))
    )
  from keys k left join wadi_limits l on l.key = k.key
  where k.key is not null
),
walk(queue, name, quota, rank, key, room, cursor, taken) as not materialized (
  select queue, name, quota, rank, key, room, (
      select @level_start(t)
      from cairnq_tasks t
      where t.status = 'queued' and t.queue = entries.queue and t.name = entries.name and t.concurrency_key = entries.key
        and @claimable(t)
      order by t.priority desc limit 1
    ), 0
  from entries where room > 0
  union all
  select queue, name, quota, rank, key, room, coalesce((
      select printf(
          '%015d%d%010d%016d%d',
          2147483647 - @priority_digits(t),
          t.priority <> @priority_digits(t),
          ifnull(rank + taken + (substr(cursor, 16, 1) >= '0'), 0),
          1000000000000000 + @run_at_digits(t),
          t.run_at_ms <> @run_at_digits(t)
        ) || t.id
      from cairnq_tasks t
      where t.status = 'queued' and t.queue = walk.queue and t.name = walk.name and t.concurrency_key = walk.key
        and t.priority = @level_of(walk)
        and t.run_at_ms <= (select ms from now)
        and (t.run_at_ms, t.id) > (
          case substr(walk.cursor, 43, 1)
            when '0' then cast(substr(walk.cursor, 27, 16) as integer) - 1000000000000000
            when '1' then (select o.run_at_ms from cairnq_tasks o where o.id = substr(walk.cursor, 44))
            else -9e999
          end,
          iif(substr(walk.cursor, 16, 1) >= '0', substr(walk.cursor, 44), '')
        )
        and @claimable(t)
        and iif(+:weighs, (select @fits(o) from cairnq_tasks o where o.id = t.id), 1)
      order by t.run_at_ms, t.id limit 1
    ), (
      select @level_start(t)
      from cairnq_tasks t
      where t.status = 'queued' and t.queue = walk.queue and t.name = walk.name and t.concurrency_key = walk.key
        and t.priority < @level_of(walk)
        and @claimable(t)
      order by t.priority desc limit 1
    )), taken + (substr(cursor, 16, 1) >= '0')
  from walk where cursor is not null and taken + (substr(cursor, 16, 1) >= '0') < min(quota, room)
  order by 7
),
-- Materialized, or a sort would come before the limit.
found as materialized (
  select * from walk where substr(cursor, 16, 1) >= '0'
  limit :max_tasks + (
    select ifnull(sum(min(quota, room)), 0)
    from (
      select quota, room, key, count(*) over (partition by key) as lanes, count(*) over (partition by queue, name) as keys
      from entries where room > 0
    )
    where (key <> '' and lanes > 1) or (quota < :max_tasks and keys > 1)
  )
)
update cairnq_tasks set
  status = 'running',
  worker_id = :worker_id,
  lease_until_ms = (select ms from now) + cast(:lease_ms as integer),
  attempt = attempt + 1,
  crashes = min(crashes, max(attempt, 0)),
  hold = iif(+:holds = 2 or (+:holds = 1 and min(crashes, attempt) > 0), :worker_id, null),
  updated_at_ms = (select ms from now)
where id in (
  select substr(cursor, 44)
  from (
    select cursor, quota, row_number() over (partition by queue, name order by cursor) as of_lane
    from (select *, row_number() over (partition by key order by cursor) as of_key from found)
    where key = '' or of_key <= room
  )
  where of_lane <= quota
  order by cursor limit +:max_tasks
)
  and (+:max_task_bytes is null or @fits(cairnq_tasks))
returning @returned()
