-- From when a task that was never claimed counts as canceled; null: it waits for ever.
alter table cairnq_tasks add column expires_at_ms integer;

-- A retry that goes on counting its attempts does not expire, so that only tasks that may expire are in the index.
-- The status is first, and the last condition is no range, so that where there are none, a lookup reads no row.
create index if not exists wadi_tasks_expiry_idx
  on cairnq_tasks (status, expires_at_ms) where status = 'queued' and attempt = 0 and not (expires_at_ms is null);
