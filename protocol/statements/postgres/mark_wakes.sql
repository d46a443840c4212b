-- Marks a drain as going to claim again, for 5 s, in the queues whose names it has room for, if its claim in this batch
-- took tasks or the drain stays; else takes back its mark. The first claim of a drain also clears the kicks that may
-- have started it. It follows the claim, with which it is one transaction, and lock_wakes before that; it writes only
-- what changes.
-- @param wakes_json json
-- @param owner text
-- @param worker_id text
-- @param lease_ms integer
-- @param keeps integer
-- @param clears integer
-- @param now_ms integer?
-- @returns nothing
with @now(),
claimed as materialized (
  select :keeps::integer = 1 or exists (
    select 1 from cairnq_tasks cross join now
    where status = 'running'
      and lease_until_ms between now.ms + :lease_ms::bigint - 5000 and now.ms + :lease_ms::bigint
      and worker_id = :worker_id::text
  ) as tasks
),
marks as materialized (
  select item->>'queue' as queue, case when claimed.tasks then item->'names' end as names
  from claimed cross join @elements(:wakes_json) as items(item)
)
insert into wadi_wakes as wake (queue, active_until_ms, owner, names)
select
  mark.queue, case when mark.names is not null then now.ms + 5000 end,
  case when mark.names is not null then :owner::text end, mark.names
from now cross join marks mark left join wadi_wakes present on present.queue = mark.queue
where case
    when mark.names is null then present.owner = :owner::text
    else present.owner is distinct from :owner::text or present.names <> mark.names
      or present.active_until_ms < now.ms + 2500
  end
  or (:clears::integer = 1 and (present.kicked_at_ms is not null or present.delayed_at_ms <= now.ms))
on conflict (queue) do update set
  kicked_at_ms = case when :clears::integer = 0 then wake.kicked_at_ms end,
  delayed_at_ms = case
    when :clears::integer = 0 or wake.delayed_at_ms > (select ms from now) then wake.delayed_at_ms
  end,
  active_until_ms = case
    when excluded.owner is null and wake.owner is distinct from :owner::text then wake.active_until_ms
    else excluded.active_until_ms
  end,
  names = case
    when excluded.owner is null and wake.owner is distinct from :owner::text then wake.names
    else excluded.names
  end,
  owner = case
    when excluded.owner is null and wake.owner is distinct from :owner::text then wake.owner
    else excluded.owner
  end
