-- Reports the due tasks of these lanes that take more than max_task_bytes in an answer, and how many bytes they take.
-- Of each lane, key and priority it weighs the first ten: it follows a claim that weighs, which has taken what fits
-- before them. Each row also says when the next task of the lanes becomes due.
-- @param lanes_json json
-- @param max_task_bytes integer
-- @param now_ms integer?
-- @returns id, name, queue, bytes, next_ms
with recursive
@now(),
@lanes((lane->>'quota')::bigint > 0),
@keys(),
levels(queue, name, key, priority, first_ms) as (
  select keys.queue, keys.name, keys.key, top.priority, top.first_ms
  from keys cross join lateral @top_level(keys, keys.key) top
  union all
  select level.queue, level.name, level.key, top.priority, top.first_ms
  from levels level cross join lateral @top_level(level, level.key, level.priority) top
),
firsts as materialized (
  select array(
    select first.id
    from levels level
    cross join lateral (
      select id from cairnq_tasks
      where @queued(level.queue, level.name, level.key)
        and priority = level.priority and run_at_ms between level.first_ms and (select ms from now)
      order by run_at_ms, id limit 10
    ) first
  ) as ids
)
select
  heavy.id, heavy.name, heavy.queue, @weight() as bytes,
  (
    select min((
      select run_at_ms from cairnq_tasks
      where @queued(level.queue, level.name, level.key)
        and priority = level.priority and run_at_ms > (select ms from now)
      order by run_at_ms limit 1
    ))
    from levels level
  ) as next_ms
from cairnq_tasks heavy
where heavy.id = any((select ids from firsts)::text[]) and not @fits() and not @is_expired(heavy, (select ms from now))
limit 100
