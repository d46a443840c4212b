-- Reports due tasks of these lanes that take more than max_task_bytes in an answer, and what they take: of each lane,
-- key and priority those among its first ten, and with each when the next task of the lanes becomes due. It follows a
-- weighing claim, which has taken what fits before them.
-- @param lanes_json json
-- @param max_task_bytes integer
-- @param now_ms integer?
-- @returns id, name, queue, bytes, next_ms
with recursive
now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
-- Through an array the planner expects 10 rows: more, and it takes the recursion for a costly one. So what is found
-- for the lanes, and for the keys, goes through one too.
declared as materialized (
  select lane->>'queue' as queue, lane->>'name' as name
  from unnest(array(select jsonb_array_elements(:lanes_json::jsonb))) as l(lane)
  where (lane->>'quota')::bigint > 0
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
keys as materialized (
  select k->>'queue' as queue, k->>'name' as name, k->>'key' as key
  from unnest(array(
    select jsonb_build_object('queue', l.queue, 'name', l.name, 'key', k.key)
    from lanes l
    cross join lateral unnest(array(
      with recursive keys(key) as (
        (
          select t.concurrency_key from cairnq_tasks t
          where t.status = 'queued' and t.queue = l.queue and t.name = l.name
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
  )) as i(k)
),
levels(queue, name, key, priority, first_ms) as (
  select k.queue, k.name, k.key, p.priority, p.first_ms
  from keys k
  cross join lateral (
    select t.priority, t.run_at_ms as first_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = k.queue and t.name = k.name and t.concurrency_key = k.key
    order by t.priority desc, t.run_at_ms limit 1
  ) p
  union all
  select l.queue, l.name, l.key, p.priority, p.first_ms
  from levels l
  cross join lateral (
    select t.priority, t.run_at_ms as first_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = l.key
      and t.priority < l.priority
    order by t.priority desc, t.run_at_ms limit 1
  ) p
),
firsts as materialized (
  select array(
    select t.id
    from levels l
    cross join lateral (
      select t.id from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = l.key
        and t.priority = l.priority and t.run_at_ms between l.first_ms and (select ms from now)
      order by t.run_at_ms, t.id limit 10
    ) t
  ) as ids
)
select
  o.id, o.name, o.queue, @weight(o) as bytes,
  (
    select min((
      select t.run_at_ms from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = l.key
        and t.priority = l.priority and t.run_at_ms > (select ms from now)
      order by t.run_at_ms limit 1
    ))
    from levels l
  ) as next_ms
from cairnq_tasks o
where o.id = any((select ids from firsts)::text[]) and not @fits(o)
limit 100
