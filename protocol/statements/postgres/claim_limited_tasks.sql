-- Leases due tasks to one owner as claim_tasks does, and those with a concurrency key among them: of a key no more
-- than its limits leave room for, over all lanes. Keys split a lane, and each of them takes
-- turns with its rank, one more for those that the lane's owner served lately.
-- A key without limits, which a purge forgot, has room for one. The room of a key goes to its first tasks in the order, then the quota of a lane to its first tasks.
-- It must follow lock_limits in the same transaction, so that it reads what the claims before it took.
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
    lane->>'queue' as queue, lane->>'name' as name, (lane->>'rank')::bigint as rank, lane->'served' as served,
    least((lane->>'quota')::bigint, :max_tasks::bigint) as quota
  from unnest(array(select jsonb_array_elements(:lanes_json::jsonb))) as l(lane)
  where (lane->>'quota')::bigint > 0
),
lanes as (
  select d.queue, d.name, d.rank, d.served, d.quota from declared d where d.name is not null
  union all
  select d.queue, n.name, d.rank, d.served, d.quota
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
keys as (
  select l.queue, l.name, l.rank + case when k.key <> '' and l.served @> to_jsonb(k.key) then 1 else 0 end as rank, l.quota, k.key
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
),
-- Materialized, or each use of a room would count anew.
rooms as materialized (
  select k.*, case when k.key = '' then :max_tasks::bigint else (
      select least(
        :max_tasks::bigint,
        case when l.key is null then 1 else l.concurrency end - (
          select count(*) from cairnq_tasks t
          where t.status = 'running' and t.concurrency_key = k.key and t.concurrency_key <> ''
        ),
        case when l.rate_count is not null then l.rate_count - (
          select coalesce(sum(s.tasks), 0) from wadi_limit_starts s
          where s.key = k.key and s.started_at_ms > (select ms from now) - l.rate_per_ms
        ) end
      )
      from (select 1) one left join wadi_limits l on l.key = k.key
    ) end as room
  from keys k
),
entries as (
  select r.*, least(r.quota, r.room) as most from rooms r where sign(r.room) = 1
),
-- As in claim_tasks, one row an entry and priority. `left_over` is what the levels above leave of `most`.
levels(queue, name, key, quota, room, turns, left_over, priority, first_ms, due) as (
  select e.queue, e.name, e.key, e.quota, e.room, e.rank + e.most, e.most, p.priority, p.first_ms, d.due
  from entries e
  cross join lateral (
    select t.priority, t.run_at_ms as first_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = e.queue and t.name = e.name and t.concurrency_key = e.key
    order by t.priority desc, t.run_at_ms limit 1
  ) p
  cross join lateral (
    select count(*) as due
    from (
      select 1 from cairnq_tasks t
      where t.status = 'queued' and t.queue = e.queue and t.name = e.name and t.concurrency_key = e.key
        and t.priority = p.priority and t.run_at_ms between p.first_ms and (select ms from now)
        and case when (select :weighs::integer) = 0 then true else (select @fits(o) from cairnq_tasks o where o.id = t.id) end
      limit e.most
    ) c
  ) d
  union all
  select l.queue, l.name, l.key, l.quota, l.room, l.turns, l.left_over - l.due, p.priority, p.first_ms, d.due
  from levels l
  cross join lateral (
    select t.priority, t.run_at_ms as first_ms from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = l.key
      and t.priority < l.priority
    order by t.priority desc, t.run_at_ms limit 1
  ) p
  cross join lateral (
    select count(*) as due
    from (
      select 1 from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = l.key
        and t.priority = p.priority and t.run_at_ms between p.first_ms and (select ms from now)
        and case when (select :weighs::integer) = 0 then true else (select @fits(o) from cairnq_tasks o where o.id = t.id) end
      limit l.left_over - l.due
    ) c
  ) d
  where sign(l.left_over) = 1
),
found as (
  select
    l.queue, l.name, l.key, l.quota, l.room, l.priority, t.run_at_ms, t.id,
    l.turns - l.left_over + t.nth as turn
  from levels l
  cross join lateral (
    select t.run_at_ms, t.id, row_number() over (order by t.run_at_ms, t.id) as nth from cairnq_tasks t
    where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = l.key
      and t.priority = l.priority and t.run_at_ms between l.first_ms and (select ms from now)
        and case when (select :weighs::integer) = 0 then true else (select @fits(o) from cairnq_tasks o where o.id = t.id) end
    order by t.run_at_ms, t.id limit l.due
  ) t
  where sign(l.due) = 1
),
picked as materialized (
  select c.queue, c.name, c.key, count(*) as tasks
  from (
    select q.*
    from (
      select k.*, row_number() over (
          partition by k.queue, k.name order by k.priority desc, k.turn, k.run_at_ms, k.id
        ) as of_lane
      from (
        select f.*, row_number() over (
            partition by f.key order by f.priority desc, f.turn, f.run_at_ms, f.id
          ) as of_key
        from found f
      ) k
      where k.key = '' or k.of_key <= k.room
    ) q
    where q.of_lane <= q.quota
    order by q.priority desc, q.turn, q.run_at_ms, q.id
    limit (select :max_tasks::bigint)
  ) c
  group by c.queue, c.name, c.key
),
locked as (
  select t.id
  from picked p
  cross join lateral (
    select t.id
    from (
      select * from levels l where l.queue = p.queue and l.name = p.name and l.key = p.key order by l.priority desc
    ) l
    cross join lateral (
      select t.id from cairnq_tasks t
      where t.status = 'queued' and t.queue = l.queue and t.name = l.name and t.concurrency_key = l.key
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
