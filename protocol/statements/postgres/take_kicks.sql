-- Takes the kick of each queue that got tasks, and returns the queues whose kick the caller has to send. None is taken
-- while one is pending, for at most 5 s, while a drain is going to claim tasks of all these names, while all of them
-- are paused, or in a database of another scope. A kick that is due later is taken unless an earlier one is on its way.
-- It follows the submit in the same batch. No names stand for any.
--
-- The function reads in a newer snapshot than its lock, which a single statement could not.
-- @param kicks_json json
-- @param can_delay integer
-- @param scope text?
-- @param now_ms integer?
-- @returns queue, at_ms
with @now(),
kicks as materialized (
  select
    item->>'queue' as queue, item->'names' as names,
    least((item->>'run_at_ms')::bigint, now.ms + (item->>'delay_ms')::bigint) as at_ms
  from now cross join @elements(coalesce(@guard(), :kicks_json)) as items(item)
)
select kick.queue, case when kick.at_ms > now.ms then kick.at_ms end as at_ms
from now cross join kicks kick
where not @is_foreign() and wadi_take_kick(kick.queue, kick.names, kick.at_ms, now.ms, :can_delay::integer = 1)
