-- Sets what each key allows from now on; the latest submit that names a key decides.
-- A row that says the same is written only every half an hour, to keep it from being purged, so that submits of one key
-- seldom wait for each other. Rows are written in the order of the keys, so that submits never deadlock.
-- @param limits_json json
-- @param now_ms integer?
-- @returns nothing
with @now(),
given as materialized (
  select
    item->>'key' as key, (item->>'concurrency')::integer as concurrency,
    (item->>'rate_count')::integer as rate_count, (item->>'rate_per_ms')::bigint as rate_per_ms
  from @elements(:limits_json) as items(item)
)
insert into wadi_limits (key, concurrency, rate_count, rate_per_ms, updated_at_ms)
select given.key, given.concurrency, given.rate_count, given.rate_per_ms, now.ms
from given cross join now
where not exists (
  select 1 from wadi_limits present
  where present.key = given.key and present.concurrency is not distinct from given.concurrency
    and present.rate_count is not distinct from given.rate_count
    and present.rate_per_ms is not distinct from given.rate_per_ms
    and present.updated_at_ms > now.ms - 1800000
)
order by given.key
on conflict (key) do update set
  concurrency = excluded.concurrency, rate_count = excluded.rate_count, rate_per_ms = excluded.rate_per_ms,
  updated_at_ms = excluded.updated_at_ms
