-- When the next task expires, or did; null if none does. It reads one entry of an index that has only such tasks, and
-- where there are none, nothing: a range, such as `is not null`, would read its end.
(
  select expires_at_ms from cairnq_tasks
  where status = 'queued' and attempt = 0 and not (expires_at_ms is null)
  order by expires_at_ms limit 1
)
