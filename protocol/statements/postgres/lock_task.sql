-- Takes the lock of one task's key, if it has a key, and holds it until the transaction ends.
-- So no submit sees the key as free while a retry brings the task back.
-- @only postgres: SQLite has one writer at a time
-- @param id text?
-- @param key text?
-- @returns locks
with keys as materialized (
  select distinct hashtextextended(key, 0) as hash
  from (
    select :key::text as key where :id::text is null
    union all
    select task_key.key from cairnq_task_keys task_key where task_key.task_id = :id::text
  ) named
  where key is not null
  order by hash
),
locked as materialized (
  select pg_advisory_xact_lock(hash) from keys
)
select count(*) as locks from locked
