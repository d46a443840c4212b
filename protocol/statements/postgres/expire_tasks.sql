-- Ends tasks that have expired, those that expired first before others and at most max_tasks of them: canceled, at the
-- time of their expiry. It passes by those that others hold.
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns id
with now as materialized (select coalesce(@guard()::bigint, @present()) as ms),
expired as materialized (
  select id from cairnq_tasks
  where status = 'queued' and attempt = 0 and expires_at_ms is not null
    and expires_at_ms <= (select ms from now)
  order by expires_at_ms limit :max_tasks::bigint
  for update skip locked
)
update cairnq_tasks task set
  status = 'canceled',
  error = @expiry_error(task),
  completed_at_ms = task.expires_at_ms,
  updated_at_ms = now.ms
from now
where @among(expired)
returning task.id
