-- Ends one pause, of exactly this queue and name, and notifies the workers of each queue that has such tasks. Without
-- the pause nothing changes.
-- @param queue text
-- @param name text
-- @returns notified
with ended as (
  delete from wadi_pauses where queue = coalesce(@guard(), :queue::text) and name = :name::text
  returning 1
)
select count(pg_notify('cairnq_queued', resumed.queue)) as notified
from (
  select :queue::text where :queue::text <> ''
  union all
  select value from @distinct(queue, status = 'queued') as found(value) where :queue::text = ''
) as resumed(queue)
where exists (select 1 from ended)
