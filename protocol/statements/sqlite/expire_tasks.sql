-- Ends tasks that have expired, those that expired first before others and at most max_tasks of them: canceled, at the
-- time of their expiry.
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns id
with @now()
update cairnq_tasks set
  status = 'canceled',
  error = @expiry_error(cairnq_tasks),
  completed_at_ms = expires_at_ms,
  updated_at_ms = (select ms from now)
where id in (
  select id from cairnq_tasks
  where status = 'queued' and attempt = 0 and not (expires_at_ms is null)
    and expires_at_ms <= coalesce(@guard(), (select ms from now))
  order by expires_at_ms limit +:max_tasks
)
returning id
