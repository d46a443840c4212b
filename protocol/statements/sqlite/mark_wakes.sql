-- Marks a drain as going to claim again, for 5 s, in the queues whose names it has room for, if its claim in this batch
-- took tasks or the drain stays; else takes back its mark. The first claim of a drain also clears the kicks that may
-- have started it. It follows the claim, with which it is one transaction, and writes only what changes.
-- @param wakes_json json
-- @param owner text
-- @param worker_id text
-- @param lease_ms integer
-- @param keeps integer
-- @param clears integer
-- @param now_ms integer?
-- @returns nothing
with @now(),
claimed(tasks) as materialized (
  select +:keeps or exists (
    select 1 from now cross join cairnq_tasks
    where status = 'running' and lease_until_ms between now.ms + :lease_ms - 5000 and now.ms + :lease_ms
      and +worker_id = :worker_id
  )
),
marks(queue, names) as materialized (
  select item.value->>'queue', iif(claimed.tasks, item.value->'names', null)
  from claimed cross join json_each(:wakes_json) item
)
insert into wadi_wakes (queue, active_until_ms, owner, names)
select
  mark.queue, iif(mark.names is null, null, now.ms + 5000), iif(mark.names is null, null, :owner), mark.names
from now cross join marks mark left join wadi_wakes wake on wake.queue = mark.queue
where iif(
    mark.names is null,
    wake.owner = :owner,
    wake.owner is not :owner or wake.names <> mark.names or wake.active_until_ms < now.ms + 2500
  )
  or (+:clears and (wake.kicked_at_ms is not null or wake.delayed_at_ms <= now.ms))
on conflict (queue) do update set
  kicked_at_ms = iif(+:clears, null, kicked_at_ms),
  delayed_at_ms = iif(+:clears and delayed_at_ms <= @present(), null, delayed_at_ms),
  active_until_ms = iif(excluded.owner is null and owner is not :owner, active_until_ms, excluded.active_until_ms),
  names = iif(excluded.owner is null and owner is not :owner, names, excluded.names),
  owner = iif(excluded.owner is null and owner is not :owner, owner, excluded.owner)
