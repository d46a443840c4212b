-- Sets what each key allows from now on; the latest submit that names a key decides.
-- A row that says the same is written only every half an hour, to keep it from being purged.
-- @param limits_json json
-- @param now_ms integer?
-- @returns nothing
with @now(),
given(key, concurrency, rate_count, rate_per_ms) as (
  select value->>'key', value->>'concurrency', value->>'rate_count', value->>'rate_per_ms'
  from json_each(:limits_json)
)
insert into wadi_limits (key, concurrency, rate_count, rate_per_ms, updated_at_ms)
select given.key, given.concurrency, given.rate_count, given.rate_per_ms, now.ms
from now cross join given
where not exists (
  select 1 from wadi_limits present
  where present.key = given.key and present.concurrency is given.concurrency
    and present.rate_count is given.rate_count and present.rate_per_ms is given.rate_per_ms
    and present.updated_at_ms > now.ms - 1800000
)
on conflict (key) do update set
  concurrency = excluded.concurrency, rate_count = excluded.rate_count, rate_per_ms = excluded.rate_per_ms,
  updated_at_ms = excluded.updated_at_ms
