-- Leases due tasks to one owner: per lane at most its quota, over all lanes at most max_tasks, in the
-- order priority desc, run_at_ms, id. A lane is a queue and a name; a null name means every name.
-- Lanes with a rank take turns within a priority: the one with the smallest rank + taken goes first.
-- An unlocked walk decides how many tasks to take from which lane; then that many are locked there, past
-- what other claimers hold. Arrays, "between" and sign() keep the row estimates small
-- whatever the statistics say: a planner that expects many rows would sort the backlog. The sub-select
-- around the limit hides its value, or every call would be planned anew for it.
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
now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
declared as materialized (
  select
    lane->>'queue' as queue, lane->>'name' as name, least((lane->>'quota')::bigint, :max_tasks::bigint) as quota,
    -- Rank + quota: less what is left of the quota, that is rank + taken.
    (lane->>'rank')::bigint + least((lane->>'quota')::bigint, :max_tasks::bigint) as turns
  from unnest(array(select jsonb_array_elements(:lanes_json::jsonb))) as l(lane)
),
lanes as (
  select d.queue, d.name, d.quota, d.turns from declared d where d.name is not null
  union all
  select d.queue, n.name, d.quota, d.turns
  from declared d
  cross join lateral unnest(array(
    with recursive names(name) as (
      (
        select t.name from cairnq_tasks t
        where t.status = 'queued' and t.queue = d.queue
        order by t.name limit 1
      )
      union all
      select (
        select t.name from cairnq_tasks t
        where t.status = 'queued' and t.queue = d.queue and t.name > names.name
        order by t.name limit 1
      )
      from names where names.name is not null
    )
    select names.name from names where names.name is not null
  )) as n(name)
  where d.name is null
),
-- One row a lane and priority, from the highest down until the due tasks fill the quota, and one level
-- more for when other claimers empty the last. `quota` is what the levels above leave of it.
levels(queue, name, quota, turns, priority, first_ms, due) as (
  select l.queue, l.name, l.quota, l.turns, p.priority, p.first_ms, d.due
  from lanes l
  cross join lateral (
    select t.priority, t.run_at_ms as first_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
    order by t.priority desc, t.run_at_ms limit 1
  ) p
  cross join lateral (
    select count(*) as due
    from (
      select 1 from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
        and t.priority = p.priority and t.run_at_ms between p.first_ms and (select ms from now)
        and case when (select :weighs::integer) = 0 then true else (select @fits(o) from cairnq_tasks o where o.id = t.id) end
      limit l.quota
    ) c
  ) d
  union all
  select l.queue, l.name, l.quota - l.due, l.turns, p.priority, p.first_ms, d.due
  from levels l
  cross join lateral (
    select t.priority, t.run_at_ms as first_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
      and t.priority < l.priority
    order by t.priority desc, t.run_at_ms limit 1
  ) p
  cross join lateral (
    select count(*) as due
    from (
      select 1 from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
        and t.priority = p.priority and t.run_at_ms between p.first_ms and (select ms from now)
        and case when (select :weighs::integer) = 0 then true else (select @fits(o) from cairnq_tasks o where o.id = t.id) end
      limit l.quota - l.due
    ) c
  ) d
  where sign(l.quota) = 1
),
picked as materialized (
  select c.queue, c.name, count(*) as tasks
  from (
    select l.queue, l.name
    from levels l
    cross join lateral (
      select t.run_at_ms, t.id, row_number() over (order by t.run_at_ms, t.id) as nth from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
        and t.priority = l.priority and t.run_at_ms between l.first_ms and (select ms from now)
        and case when (select :weighs::integer) = 0 then true else (select @fits(o) from cairnq_tasks o where o.id = t.id) end
      order by t.run_at_ms, t.id limit l.due
    ) t
    where sign(l.due) = 1
    order by l.priority desc, l.turns - l.quota + t.nth, t.run_at_ms, t.id
    limit (select :max_tasks::bigint)
  ) c
  group by c.queue, c.name
),
locked as (
  select t.id
  from picked p
  cross join lateral (
    select t.id
    from (select * from levels l where l.queue = p.queue and l.name = p.name order by l.priority desc) l
    cross join lateral (
      select t.id from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
        and t.priority = l.priority and t.run_at_ms between l.first_ms and (select ms from now)
        and case when (select :weighs::integer) = 0 then true else (select @fits(o) from cairnq_tasks o where o.id = t.id) end
      order by t.run_at_ms, t.id limit p.tasks
      for update skip locked
    ) t
    limit p.tasks
  ) t
  where sign(p.tasks) = 1
)
update cairnq_tasks t set
  status = 'running',
  worker_id = :worker_id::text,
  lease_until_ms = now.ms + :lease_ms::bigint,
  attempt = least(t.attempt, 2147483646) + 1,
  crashes = least(t.crashes, greatest(t.attempt, 0)),
  hold = case when :holds::integer = 2 or (:holds::integer = 1 and least(t.crashes, t.attempt) > 0) then :worker_id::text end,
  updated_at_ms = now.ms
from now
where t.id = any(array(select id from locked)) and t.id between '' and (select max(id) from locked)
  and case when (select :max_task_bytes::bigint) is null then true else @fits(t) end
returning t.*
