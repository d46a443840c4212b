-- Says when the next task of these lanes is due, when the next lease of any task runs out, and when a task with a
-- concurrency key can be claimed next: null if none is queued, 2^53 - 1 if all of their keys are at their concurrency
-- (who ends a task looks again). Nothing is looked up for limits where there have never been any.
-- @param lanes_json json
-- @param now_ms integer?
-- @returns now_ms, run_at_ms, lease_until_ms, limited_at_ms
with recursive
now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
-- Through an array the planner expects 10 rows: more, and it takes the recursion for a costly one. So what is found
-- for the lanes, and for the keys, goes through one too.
declared as materialized (
  select lane->>'queue' as queue, lane->>'name' as name
  from unnest(array(select jsonb_array_elements(:lanes_json::jsonb))) as l(lane)
),
lanes as materialized (
  select l->>'queue' as queue, l->>'name' as name
  from unnest(array(
    select jsonb_build_object('queue', d.queue, 'name', d.name) from declared d where d.name is not null
    union all
    select jsonb_build_object('queue', d.queue, 'name', n.name)
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
  )) as i(l)
),
-- Nothing is looked up for limits where there have never been any.
keys as materialized (
  select k->>'queue' as queue, k->>'name' as name, k->>'key' as key
  from unnest(array(
    select jsonb_build_object('queue', l.queue, 'name', l.name, 'key', k.key)
    from lanes l
    cross join lateral unnest(array(
      with recursive keys(key) as (
        (
          select t.concurrency_key from cairnq_tasks t
          where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key > ''
          order by t.concurrency_key limit 1
        )
        union all
        select (
          select t.concurrency_key from cairnq_tasks t
          where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key > keys.key
          order by t.concurrency_key limit 1
        )
        from keys where keys.key is not null
      )
      select keys.key from keys where keys.key is not null
    )) as k(key)
    where exists (select 1 from wadi_limits)
  )) as i(k)
),
-- A key at its concurrency is free at the end of time.
entries as materialized (
  select l.queue, l.name, '' as key, 0::bigint as free_ms from lanes l
  union all
  select k.queue, k.name, k.key, (
      select case
        when case when l.key is null then 1 else l.concurrency end <= (
          select count(*) from cairnq_tasks t
          where t.status = 'running' and t.concurrency_key = k.key and t.concurrency_key <> ''
        ) then 9007199254740991
        when l.rate_count is not null then (
          select coalesce(max(w.started_at_ms) + l.rate_per_ms, 0)
          from (
            select s.started_at_ms, sum(s.tasks) over (order by s.started_at_ms desc, s.worker_id) as tasks
            from wadi_limit_starts s
            where s.key = k.key and s.started_at_ms > (select ms from now) - l.rate_per_ms
          ) w
          where w.tasks >= l.rate_count
        )
        else 0
      end
      from (select 1) one left join wadi_limits l on l.key = k.key
    )
  from keys k
),
levels(queue, name, key, free_ms, priority, first_ms) as (
  select e.queue, e.name, e.key, e.free_ms, p.priority, p.first_ms
  from entries e
  cross join lateral (
    select t.priority, t.run_at_ms as first_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = e.queue and t.name = e.name and t.concurrency_key = e.key
    order by t.priority desc, t.run_at_ms limit 1
  ) p
  union all
  select l.queue, l.name, l.key, l.free_ms, p.priority, p.first_ms
  from levels l
  cross join lateral (
    select t.priority, t.run_at_ms as first_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = l.key
      and t.priority < l.priority
    order by t.priority desc, t.run_at_ms limit 1
  ) p
)
select
  (select ms from now) as now_ms,
  (select min(l.first_ms) from levels l where l.key = '') as run_at_ms,
  (
    select t.lease_until_ms from cairnq_tasks t
    where t.status = 'running' and t.lease_until_ms is not null
    order by t.lease_until_ms limit 1
  ) as lease_until_ms,
  (select min(greatest(l.first_ms, l.free_ms)) from levels l where l.key > '') as limited_at_ms
