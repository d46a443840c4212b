-- Reports the due tasks of these lanes that take more than max_task_bytes in an answer, and how many bytes they take.
-- Of each lane, key and priority it weighs the first ten: it follows a claim that weighs, which has taken what fits
-- before them. Each row also says when the next task of the lanes becomes due.
-- @param lanes_json json
-- @param max_task_bytes integer
-- @param now_ms integer?
-- @returns id, name, queue, bytes, next_ms
with recursive
@now(),
@lanes(item.value->>'quota' > 0),
@keys(),
levels(queue, name, key, priority) as (
  select queue, name, key, @top(priority, keys.queue, keys.name, keys.key)
  from keys where key is not null
  union all
  select queue, name, key, @top(priority, levels.queue, levels.name, levels.key, levels.priority)
  from levels where priority is not null
)
select
  heavy.id, heavy.name, heavy.queue, @weight() as bytes,
  (
    select @safe_time(min((
      select run_at_ms from cairnq_tasks
      where @queued(later.queue, later.name, later.key)
        and priority = later.priority and run_at_ms > (select ms from now) and @claimable()
      order by run_at_ms limit 1
    )))
    from levels later where later.priority is not null
  ) as next_ms
from levels
cross join json_each((
  select json_group_array(id)
  from (
    select id from cairnq_tasks
    where @queued(levels.queue, levels.name, levels.key)
      and priority = levels.priority and run_at_ms <= (select ms from now) and @claimable()
    order by run_at_ms, id limit 10
  )
)) first
cross join cairnq_tasks heavy on heavy.id = first.value
where levels.priority is not null and not @fits() and not @is_expired(heavy, (select ms from now))
limit 100
