-- Forgets the starts that have left the windows of the keys a claim took tasks of.
-- @param worker_id text
-- @param now_ms integer?
-- @returns nothing
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
)
delete from wadi_limit_starts
where (key, started_at_ms, worker_id) in (
  select s.key, s.started_at_ms, s.worker_id
  from (
    select distinct t.concurrency_key as key from cairnq_tasks t
    where t.status = 'running' and t.concurrency_key <> '' and t.worker_id = :worker_id::text
  ) k
  join wadi_limits l on l.key = k.key
  join wadi_limit_starts s on s.key = l.key
  where s.started_at_ms <= (select ms from now) - l.rate_per_ms
)
