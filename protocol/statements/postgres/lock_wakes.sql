-- Waits for the submits in flight to these queues, and lets later ones kick until the transaction ends.
-- So the claim after it, a statement of the same transaction, sees the tasks of every submit that relies on it.
-- @only postgres: SQLite has one writer at a time
-- @param queues_json json
-- @returns locks
with locked as materialized (
  select pg_advisory_xact_lock(hashtextextended('wadi:wake:' || queue, '@schema.wadi_wakes'::regclass::oid::bigint))
  from (select jsonb_array_elements_text(:queues_json::jsonb) as queue order by queue) queues
)
select count(*) as locks from locked
