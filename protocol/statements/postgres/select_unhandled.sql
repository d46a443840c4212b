-- Counts due tasks in the queues of these lanes whose names no lane takes: of each name at most 100, and of at most
-- max_names names. Of such a name it goes from level to level (a limit's key and a priority) by the first task of each, over at
-- most 200 levels, so it reads no task that is due later but those.
-- @param lanes_json json
-- @param max_names integer
-- @param now_ms integer?
-- @returns queue, name, tasks
with recursive
now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
lanes as materialized (
  select lane->>'queue' as queue, lane->>'name' as name
  from unnest(array(select jsonb_array_elements(:lanes_json::jsonb))) as l(lane)
),
levels(queue, name, key, priority, handled, step) as (
  select q.queue, f.name, f.concurrency_key, f.priority, f.handled, 1
  from (select distinct queue from lanes) q
  cross join lateral (
    select
      n.name, n.concurrency_key, n.priority,
      exists (select 1 from lanes l where l.queue = q.queue and coalesce(l.name, n.name) = n.name) as handled
    from cairnq_tasks n
    where n.status = 'queued' and n.queue = q.queue
    order by n.name, n.concurrency_key, n.priority desc limit 1
  ) f
  union all
  select v.queue, f.name, f.concurrency_key, f.priority,
    exists (select 1 from lanes l where l.queue = v.queue and coalesce(l.name, f.name) = f.name),
    v.step + 1
  from levels v
  cross join lateral (
    (
      select n.name, n.concurrency_key, n.priority from cairnq_tasks n
      where not v.handled and n.status = 'queued' and n.queue = v.queue and n.name = v.name
        and n.concurrency_key = v.key and n.priority < v.priority
      order by n.priority desc limit 1
    )
    union all
    (
      select n.name, n.concurrency_key, n.priority from cairnq_tasks n
      where not v.handled and n.status = 'queued' and n.queue = v.queue and n.name = v.name and n.concurrency_key > v.key
      order by n.concurrency_key, n.priority desc limit 1
    )
    union all
    (
      select n.name, n.concurrency_key, n.priority from cairnq_tasks n
      where n.status = 'queued' and n.queue = v.queue and n.name > v.name
      order by n.name, n.concurrency_key, n.priority desc limit 1
    )
    limit 1
  ) f
  where v.step < 200
)
select v.queue, v.name, least(sum(c.tasks), 100) as tasks
from levels v
cross join lateral (
  select count(*) as tasks from (
    select 1 from cairnq_tasks d
    where d.status = 'queued' and d.queue = v.queue and d.name = v.name and d.concurrency_key = v.key
      and d.priority = v.priority and d.run_at_ms <= (select ms from now)
    limit 100
  ) first
) c
where not v.handled and c.tasks > 0
group by v.queue, v.name
limit :max_names::bigint
