-- Sets what each key allows from now on. A row that says the same is written only to keep it from being purged,
-- so that submits of one key seldom wait for each other. In the order of the keys, so that they never deadlock.
-- @param limits_json json
-- @param now_ms integer?
-- @returns nothing
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
given as materialized (
  select
    l->>'key' as key, (l->>'concurrency')::integer as concurrency, (l->>'rate_count')::integer as rate_count,
    (l->>'rate_per_ms')::bigint as rate_per_ms
  from unnest(array(select jsonb_array_elements(:limits_json::jsonb))) as i(l)
)
insert into wadi_limits (key, concurrency, rate_count, rate_per_ms, updated_at_ms)
select g.key, g.concurrency, g.rate_count, g.rate_per_ms, now.ms
from given g cross join now
where not exists (
  select 1 from wadi_limits l
  where l.key = g.key and l.concurrency is not distinct from g.concurrency
    and l.rate_count is not distinct from g.rate_count and l.rate_per_ms is not distinct from g.rate_per_ms
    and l.updated_at_ms > now.ms - 1800000
)
order by g.key
on conflict (key) do update set
  concurrency = excluded.concurrency, rate_count = excluded.rate_count, rate_per_ms = excluded.rate_per_ms,
  updated_at_ms = excluded.updated_at_ms
