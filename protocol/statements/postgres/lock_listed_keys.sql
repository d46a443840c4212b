-- Takes the locks of the keys of the tasks of a list and holds them until the transaction ends, in the order of the
-- hashes. So no submit sees a key as free while a retry brings its task back.
-- @only postgres: SQLite has one writer at a time
-- @param ids_json json
-- @returns locks
with keys as materialized (
  select distinct hashtextextended(task_key.key, 0) as hash
  from @texts(coalesce(@guard(), :ids_json)) as listed(id)
  cross join lateral (select key from cairnq_task_keys where task_id = listed.id) task_key
  order by hash
),
locked as materialized (
  select pg_advisory_xact_lock(hash) from keys
)
select count(*) as locks from locked
