-- Takes the kick of each queue for the drain that follows this one, and returns the queues whose kick the caller has to
-- send, with the count of such kicks since a drain last ended a task. At max_hops none is taken. The mark of this drain
-- is taken back. It follows lock_wakes.
-- @param queues_json json
-- @param owner text
-- @param hop integer
-- @param progressed integer
-- @param max_hops integer
-- @param now_ms integer?
-- @returns queue, hops
with @now(),
asked as materialized (
  select queue from jsonb_array_elements_text(coalesce(@guard(), :queues_json)::jsonb) as queues(queue)
)
insert into wadi_wakes as wake (queue, kicked_at_ms, hops)
select
  asked.queue, now.ms,
  case
    when :progressed::integer = 1 then 1
    else greatest(coalesce(present.hops, 0), :hop::integer) + 1
  end
from now cross join asked left join wadi_wakes present on present.queue = asked.queue
where not coalesce(present.kicked_at_ms between now.ms - 4999 and now.ms + 5000, false)
  and (
    :progressed::integer = 1 or greatest(coalesce(present.hops, 0), :hop::integer) < :max_hops::integer
  )
on conflict (queue) do update set
  kicked_at_ms = excluded.kicked_at_ms,
  hops = excluded.hops,
  active_until_ms = case when wake.owner is distinct from :owner::text then wake.active_until_ms end,
  owner = nullif(wake.owner, :owner::text)
returning queue, hops
