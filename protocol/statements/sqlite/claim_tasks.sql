-- Leases due tasks to one owner: per lane at most its quota, over all lanes at most max_tasks, in the
-- order priority desc, run_at_ms, id. A lane is a queue and a name; a null name means every name.
-- Lanes with a rank take turns within a priority: the one with the smallest rank + taken goes first.
-- The walk is a priority queue with one entry per lane, so it reads what it takes and not the backlog.
-- Its cursor sorts as tasks are claimed: 15 digits of inverted priority and a mark, 10 digits of the lane's turn, 16 of
-- run_at_ms and a mark, then the id. A mark is 0 if the digits before it are exact and 1 if the row has another value,
-- such as a fraction or a text: it is read from the row again, so each step moves forward whatever the columns hold.
-- The start of a level is its priority alone, or with the mark ! and the id of its first task. An empty cursor stands
-- for a lane that has yet to list its names. An id that is empty, no text, or contains NUL is passed by.
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
walk(queue, name, quota, cursor, rank, taken) as not materialized (
  select value->>'queue', coalesce(value->>'name', (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue'
      order by t.name limit 1
    )), value->>'quota', case when value->>'name' is null then '' else (
      select @level_start(t)
      from cairnq_tasks t
      where t.status = 'queued' and t.queue = value->>'queue' and t.name = value->>'name' and t.concurrency_key = ''
        and @claimable(t)
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
  select queue, name, quota, iif(cursor = '', (
      select @level_start(t)
      from cairnq_tasks t
      where t.status = 'queued' and t.queue = walk.queue and t.name = walk.name and t.concurrency_key = ''
        and @claimable(t)
      order by t.priority desc limit 1
    ), coalesce((
      select printf(
          '%015d%d%010d%016d%d',
          2147483647 - @priority_digits(t),
          t.priority <> @priority_digits(t),
          ifnull(rank + taken + (substr(cursor, 16, 1) >= '0'), 0),
          1000000000000000 + @run_at_digits(t),
          t.run_at_ms <> @run_at_digits(t)
        ) || t.id
      from cairnq_tasks t
      where t.status = 'queued' and t.queue = walk.queue and t.name = walk.name and t.concurrency_key = ''
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
      where t.status = 'queued' and t.queue = walk.queue and t.name = walk.name and t.concurrency_key = ''
        and t.priority < @level_of(walk)
        and @claimable(t)
      order by t.priority desc limit 1
    ))), rank, taken + (substr(cursor, 16, 1) >= '0')
  from walk where cursor is not null and taken + (substr(cursor, 16, 1) >= '0') < quota
  order by 4
)
update cairnq_tasks set
  status = 'running',
  worker_id = :worker_id,
  lease_until_ms = (select ms from now) + cast(:lease_ms as integer),
  attempt = attempt + 1,
  crashes = min(crashes, max(attempt, 0)),
  hold = iif(+:holds = 2 or (+:holds = 1 and min(crashes, attempt) > 0), :worker_id, null),
  updated_at_ms = (select ms from now)
where id in (select substr(cursor, 44) from walk where substr(cursor, 16, 1) >= '0' limit +:max_tasks)
  and (+:max_task_bytes is null or @fits(cairnq_tasks))
returning @returned()
