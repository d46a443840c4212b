-- Leases due tasks to one owner: of each lane at most its quota, in all at most max_tasks, in the order of priority
-- (highest first), due time and id. A lane is a queue and a name; a null name means every name. Within a priority,
-- lanes with a rank take turns: the one with the smallest rank + taken goes first. A task that takes more than
-- max_task_bytes in an answer is left out, and so are the tasks of a paused lane. One that has expired is passed over
-- without another in its place, or a claim would read all that have: expire_tasks ends them.
--
-- The walk is a priority queue with one entry for each lane, so it reads the tasks it takes and not the backlog. The
-- cursor of an entry is where it stands; an empty one stands for a lane that has yet to list its names.
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
walk(queue, name, quota, cursor, rank, taken) as not materialized (
  select
    item.value->>'queue', coalesce(item.value->>'name', @least(name, @queued(item.value->>'queue'))),
    item.value->>'quota',
    case when item.value->>'name' is null then ''
      else @top(@level_start(), item.value->>'queue', item.value->>'name', '') end,
    item.value->>'rank', 0
  from json_each(coalesce(@scope_guard(), :lanes_json)) item
  where not @is_paused(item.value->>'queue', ifnull(item.value->>'name', ''))
  union all
  select queue, @least(name, @queued(walk.queue) and name > walk.name), quota, '', rank, 0
  from walk where cursor = '' and name is not null
  union all
  select
    queue, name, quota,
    iif(cursor = '', @top(@level_start(), walk.queue, walk.name, ''), @next_cursor('')),
    rank, taken + @at_task(cursor)
  from walk
  where cursor is not null and taken + @at_task(cursor) < quota
    and (cursor <> '' or not @is_paused(walk.queue, walk.name))
  order by 4
)
update cairnq_tasks set @lease()
where id in (select substr(cursor, 44) from walk where @at_task(cursor) limit +:max_tasks)
  and (+:max_task_bytes is null or @fits())
  and not @is_expired(cairnq_tasks, (select ms from now))
returning @returned()
