-- Takes the kick of each queue for the drain that follows this one, and returns the queues whose kick the caller has to
-- send, with the count of such kicks since a drain last ended a task. At max_hops none is taken. The mark of this drain
-- is taken back.
-- @param queues_json json
-- @param owner text
-- @param hop integer
-- @param progressed integer
-- @param max_hops integer
-- @param now_ms integer?
-- @returns queue, hops
with @now()
insert into wadi_wakes (queue, kicked_at_ms, hops)
select item.value, now.ms, iif(+:progressed, 1, max(ifnull(wake.hops, 0), +:hop) + 1)
from now cross join json_each(coalesce(@guard(), :queues_json)) item
left join wadi_wakes wake on wake.queue = item.value
where not ifnull(wake.kicked_at_ms between now.ms - 4999 and now.ms + 5000, 0)
  and (+:progressed or max(ifnull(wake.hops, 0), +:hop) < +:max_hops)
on conflict (queue) do update set
  kicked_at_ms = excluded.kicked_at_ms,
  hops = excluded.hops,
  active_until_ms = iif(owner = :owner, null, active_until_ms),
  owner = nullif(owner, :owner)
returning queue, hops
