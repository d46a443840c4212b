-- Leases due tasks to one owner: per lane at most its quota, over all lanes at most max_tasks, in the
-- order priority desc, run_at_ms, id. A lane is a queue and a name; a null name means every name.
-- First the unlocked walk decides how many tasks to take from which priority of which lane, then that
-- many are locked there, past what other claimers hold.
-- @param lanes_json json
-- @param worker_id text
-- @param lease_ms integer
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns task
with recursive
now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
-- Through an array the planner expects 10 rows; any more and the recursion looks too costly to it.
declared as materialized (
  select lane->>'queue' as queue, lane->>'name' as name, least((lane->>'quota')::bigint, :max_tasks::bigint) as quota
  from unnest(array(select jsonb_array_elements(:lanes_json::jsonb))) as l(lane)
),
named(queue, name, quota) as (
  select d.queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = d.queue
      order by t.name limit 1
    ), d.quota
  from declared d where d.name is null
  union all
  select n.queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = n.queue and t.name > n.name
      order by t.name limit 1
    ), n.quota
  from named n where n.name is not null
),
lanes as (
  select queue, name, quota from declared where name is not null
  union all
  select queue, name, quota from named where name is not null
),
-- One row a lane and priority, from the highest down until the due tasks fill the quota.
levels(queue, name, quota, priority, due) as (
  select l.queue, l.name, l.quota, p.priority, d.due
  from lanes l
  cross join lateral (
    select t.priority from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
    order by t.priority desc limit 1
  ) p
  cross join lateral (
    select count(*) as due
    from (
      select 1 from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
        and t.priority = p.priority and t.run_at_ms <= (select ms from now)
      limit l.quota
    ) c
  ) d
  union all
  select l.queue, l.name, l.quota - l.due, p.priority, d.due
  from levels l
  cross join lateral (
    select t.priority from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
      and t.priority < l.priority
    order by t.priority desc limit 1
  ) p
  cross join lateral (
    select count(*) as due
    from (
      select 1 from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
        and t.priority = p.priority and t.run_at_ms <= (select ms from now)
      limit l.quota - l.due
    ) c
  ) d
  where l.due < l.quota
),
picked as materialized (
  select c.queue, c.name, c.priority, count(*) as tasks
  from (
    select l.queue, l.name, l.priority
    from levels l
    cross join lateral (
      select t.run_at_ms, t.id from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = ''
        and t.priority = l.priority and t.run_at_ms <= (select ms from now)
      order by t.run_at_ms, t.id limit l.due
    ) t
    order by l.priority desc, t.run_at_ms, t.id
    limit :max_tasks::bigint
  ) c
  group by c.queue, c.name, c.priority
),
locked as (
  select t.id
  from picked p
  cross join lateral (
    select t.id from cairnq_tasks t
    where t.status = 'queued' and t.queue = p.queue and t.name = p.name and t.concurrency_key = ''
      and t.priority = p.priority and t.run_at_ms <= (select ms from now)
    order by t.run_at_ms, t.id limit p.tasks
    for update skip locked
  ) t
)
update cairnq_tasks t set
  status = 'running',
  worker_id = :worker_id::text,
  lease_until_ms = now.ms + :lease_ms::bigint,
  attempt = t.attempt + 1,
  updated_at_ms = now.ms
from now
where t.id = any(array(select id from locked))
returning t.*
