-- Takes the kick of each queue that got tasks, and returns the queues whose kick the caller has to send. None is taken
-- while one is pending, for at most 5 s, while a drain is going to claim tasks of all these names, while all of them
-- are paused, or in a database of another scope. A kick that is due later is taken unless an earlier one is on its way.
-- It follows the submit in the same batch. No names stand for any.
-- @param kicks_json json
-- @param can_delay integer
-- @param scope text?
-- @param now_ms integer?
-- @returns queue, at_ms
with @now(),
kicks(queue, names, at_ms) as materialized (
  select
    item.value->>'queue', item.value->'names',
    min(
      ifnull(item.value->>'run_at_ms', 9007199254740991),
      now.ms + ifnull(item.value->>'delay_ms', 9007199254740991)
    )
  from now cross join json_each(coalesce(@guard(), :kicks_json)) item
)
insert into wadi_wakes (queue, kicked_at_ms, delayed_at_ms)
select kick.queue, iif(kick.at_ms <= now.ms, now.ms, null), iif(kick.at_ms <= now.ms, null, kick.at_ms)
from now cross join kicks kick left join wadi_wakes wake on wake.queue = kick.queue
where not @is_foreign()
  and (
    kick.names = '[]' and not @is_paused(kick.queue, '')
    or exists (select 1 from json_each(kick.names) name where not @is_paused(kick.queue, name.value))
  )
  and case
    when kick.at_ms <= now.ms then
      not ifnull(wake.kicked_at_ms between now.ms - 4999 and now.ms + 5000, 0)
      and not (
        ifnull(wake.active_until_ms between now.ms + 1 and now.ms + 5000, 0)
        and not exists (
          select 1 from json_each(kick.names) name
          where name.value not in (select value from json_each(wake.names))
        )
      )
    else +:can_delay and not ifnull(wake.delayed_at_ms between now.ms and kick.at_ms, 0)
  end
on conflict (queue) do update set
  kicked_at_ms = ifnull(excluded.kicked_at_ms, kicked_at_ms),
  delayed_at_ms = ifnull(excluded.delayed_at_ms, delayed_at_ms)
returning queue, iif(kicked_at_ms = @present(), null, delayed_at_ms) as at_ms
