-- Leases due tasks to one owner as claim_tasks does, and tasks with a concurrency key among them: of each key no more
-- than its limits have room for. The walk is that of claim_tasks with one entry for each lane and key, and a key that
-- the lane's owner served lately takes its turn one later. A key without limits, which a purge forgot, has room for
-- one.
--
-- The room of a key goes to its first tasks in the order, then the quota of a lane to its first tasks. The walk stops
-- at max_tasks, but goes on where a key is in several lanes or a small quota has several keys: it may find tasks there
-- that are left out in the end.
-- @param lanes_json json
-- @param worker_id text
-- @param lease_ms integer
-- @param max_tasks integer
-- @param holds integer
-- @param max_task_bytes integer?
-- @param weighs integer
-- @param scope text?
-- @param now_ms integer?
-- @returns task
with recursive
@now(),
lanes(queue, name, quota, rank, every, served) as (
  select
    item.value->>'queue', coalesce(item.value->>'name', @least(name, @queued(item.value->>'queue'))),
    min(item.value->>'quota', cast(:max_tasks as integer)), item.value->>'rank', item.value->>'name' is null,
    item.value->'served'
  from json_each(coalesce(@scope_guard(), :lanes_json)) item
  where item.value->>'quota' > 0
    and not @is_paused(item.value->>'queue', ifnull(item.value->>'name', ''))
  union all
  select queue, @least(name, @queued(lanes.queue) and name > lanes.name), quota, rank, every, served
  from lanes where every and name is not null
),
keys(queue, name, quota, rank, served, key) as (
  select queue, name, quota, rank, served, @least(concurrency_key, @queued(lanes.queue, lanes.name))
  from lanes where name is not null and not (every and @is_paused(lanes.queue, lanes.name))
  union all
  select
    queue, name, quota, rank, served,
    @least(concurrency_key, @queued(keys.queue, keys.name) and concurrency_key > keys.key)
  from keys where key is not null
),
entries(queue, name, quota, rank, key, room) as materialized (
  select
    keys.queue, keys.name, keys.quota,
    keys.rank + (keys.key <> '' and keys.key in (select value from json_each(keys.served))), keys.key,
    min(
      cast(:max_tasks as integer),
      ifnull(iif(limits.key is null and keys.key <> '', 1, limits.concurrency) - @running(keys.key), 1000000),
      iif(limits.rate_count is null, 1000000, limits.rate_count - (
        select ifnull(sum(tasks), 0) from wadi_limit_starts where @in_window(keys.key, limits.rate_per_ms)
      ))
    )
  from keys left join wadi_limits limits on limits.key = keys.key
  where keys.key is not null
),
walk(queue, name, quota, rank, key, room, cursor, taken) as not materialized (
  select
    queue, name, quota, rank, key, room,
    @top(@level_start(), entries.queue, entries.name, entries.key), 0
  from entries where room > 0
  union all
  select queue, name, quota, rank, key, room, @next_cursor(walk.key), taken + @at_task(cursor)
  from walk where cursor is not null and taken + @at_task(cursor) < min(quota, room)
  order by 7
),
-- Materialized, or a sort would come before the limit.
found as materialized (
  select * from walk where @at_task(cursor)
  limit :max_tasks + (
    select ifnull(sum(min(quota, room)), 0)
    from (
      select
        quota, room, key,
        count(*) over (partition by key) as lanes, count(*) over (partition by queue, name) as keys
      from entries where room > 0
    )
    where (key <> '' and lanes > 1) or (quota < :max_tasks and keys > 1)
  )
)
update cairnq_tasks set @lease()
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
  and (+:max_task_bytes is null or @fits())
  and not @is_expired(cairnq_tasks, (select ms from now))
returning @returned()
